//! Commits that move from one data folder to another as packs.

use crate::origin::{World, careless, git, request, write};
use autobuild_git::{ForgeAccess, Lease, Mirror, Mirrors, PackOutcome, PushOutcome, TakeOutLimits, Unpacked};
use domain::ids::{Millis, RepoId, Sha};
use std::fs;

/// The largest pack of these tests.
const MOST: usize = 1 << 20;
const FOLDER: &str = "autobuild/7";
const INTEGRATION: &str = "autobuild/7/integration";

/// A commit on top of the integration branch, held as `turn`; the repository has a large file beside.
async fn hold_commit(world: &World) -> Sha {
    let noise: String = (0..200_000_u64).map(|n| format!("{:x}\n", n.wrapping_mul(0x9e37_79b9))).collect();
    let start = world.people_push(INTEGRATION, &[("noise", &noise)]);
    world.fetch().await;
    let checkout = world.mirror.checkout(&start).await.unwrap();
    write(checkout.path(), "noise", format!("{noise}more\n").as_bytes());
    let changes = checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
    let prepared = world.mirror.commit_changes(&checkout, &changes, &request(&[&start])).await;
    let prepared = prepared.unwrap().expect("a change");
    prepared.keep("turn").await.unwrap();
    prepared.sha().clone()
}

async fn packed(world: &World, most: usize) -> PackOutcome {
    world.mirror.pack("turn", FOLDER, &[], most).await.unwrap()
}

async fn bytes(world: &World) -> Vec<u8> {
    match packed(world, MOST).await {
        PackOutcome::Bytes(bytes) => bytes,
        other => panic!("{other:?}"),
    }
}

/// The mirror of another machine.
fn elsewhere(world: &World) -> Mirror {
    let address = world.remote.url().strip_suffix("/o/r.git").unwrap();
    let forge = ForgeAccess::new(address).unwrap();
    let mirrors = Mirrors::new(&world.folder().join("elsewhere"), forge, None).unwrap();
    mirrors.mirror(RepoId(7))
}

#[tokio::test]
async fn a_commit_is_pushed_from_another_folder_and_its_pack_is_small() {
    let world = World::with(&[("a", "1")]).await;
    let sha = hold_commit(&world).await;
    let pack = bytes(&world).await;
    assert!(pack.len() < 2_000, "{} bytes", pack.len());
    let other = elsewhere(&world);
    other.fetch(&world.remote, &["autobuild/7/*"]).await.unwrap();
    assert!(!other.has_commit(&sha).await.unwrap());
    for _ in 0..2 {
        assert_eq!(other.unpack("turn", &sha, &pack, MOST).await.unwrap(), Unpacked::Held);
    }
    let branch = "autobuild/7/task-001".parse().unwrap();
    let pushed = other.push(&world.remote, &branch, &sha, &Lease::Absent).await;
    assert_eq!(pushed.unwrap(), PushOutcome::Done);
    assert_eq!(world.forge_tip("autobuild/7/task-001"), sha.as_str());
    world.fetch().await;
    assert_eq!(packed(&world, MOST).await, PackOutcome::Needless);
}

#[tokio::test]
async fn old_commits_are_held_no_longer_and_their_objects_stay() {
    let world = World::with(&[("a", "1")]).await;
    let sha = hold_commit(&world).await;
    let release = async |before| world.mirror.release_held(before).await.unwrap();
    assert_eq!(release(Millis(0)).await, 0, "it is not old");
    assert_eq!(release(Millis(i64::MAX)).await, 1);
    assert_eq!(release(Millis(i64::MAX)).await, 0, "nothing is held any more");
    assert!(world.mirror.has_commit(&sha).await.unwrap());
}

#[tokio::test]
async fn a_pack_that_is_too_large_damaged_or_without_its_ground_is_refused() {
    let world = World::with(&[("a", "1")]).await;
    let sha = hold_commit(&world).await;
    assert_eq!(packed(&world, 100).await, PackOutcome::TooLarge);
    let pack = bytes(&world).await;
    let other = elsewhere(&world);
    let refused = async |pack: &[u8], sha: &Sha, most: usize| match other.unpack("turn", sha, pack, most).await.unwrap()
    {
        Unpacked::Refused(why) => why,
        Unpacked::Held => panic!("{} bytes were taken as {sha}", pack.len()),
    };
    let why = refused(&pack, &sha, MOST).await;
    assert!(why.contains("lacks these prerequisite commits"), "{why}");
    other.fetch(&world.remote, &["autobuild/7/*"]).await.unwrap();
    let mut damaged = pack.clone();
    let last = damaged.len() - 30;
    damaged[last] ^= 0xff;
    refused(&damaged, &sha, MOST).await;
    refused(&pack[..pack.len() / 2], &sha, MOST).await;
    refused(b"", &sha, MOST).await;
    let why = refused(&pack, &sha, pack.len() - 1).await;
    assert!(why.contains("at most"), "{why}");
    assert!(!other.has_commit(&sha).await.unwrap());
    refused(&pack, &"1".repeat(40).parse().unwrap(), MOST).await;
    assert_eq!(other.unpack("turn", &sha, &pack, MOST).await.unwrap(), Unpacked::Held);
}

#[tokio::test]
async fn a_pack_with_an_object_that_harms_a_checkout_is_refused() {
    let world = World::with(&[("a", "1")]).await;
    let people = world.people();
    let blob = git(&people, &["hash-object", "-w", "a"]);
    let inner = world.folder().join("inner");
    fs::write(&inner, format!("100644 blob {blob}\tconfig\n")).unwrap();
    let make = |listing: &std::path::Path| {
        let output = careless(&people).arg("mktree").stdin(fs::File::open(listing).unwrap()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let tree = make(&inner);
    fs::write(&inner, format!("040000 tree {tree}\t.GIT\n")).unwrap();
    let tree = make(&inner);
    let sha: Sha = git(&people, &["commit-tree", "-m", "hostile", &tree]).parse().unwrap();
    git(&people, &["branch", "hostile", sha.as_str()]);
    let file = world.folder().join("hostile.bundle");
    git(&people, &["bundle", "create", "-q", file.to_str().unwrap(), "hostile"]);
    let pack = fs::read(&file).unwrap();
    match world.mirror.unpack("turn", &sha, &pack, MOST).await.unwrap() {
        Unpacked::Refused(why) => assert!(why.contains("hasDotgit"), "{why}"),
        Unpacked::Held => panic!("it was taken"),
    }
    assert!(!world.mirror.has_commit(&sha).await.unwrap());
}
