//! The discussion below the issue before it was labelled.

use crate::world::{ADMIN, ISSUE, Plan, READER, REPO, Setup, WRITER, World};
use autobuild::config::Role;

/// Creates a world whose planner saves its prompt.
async fn world() -> World {
    let planner = format!("cat > \"$WORLD/prompt\"\ncat <<'END'\n{}\nEND\n", Plan::one().json());
    Setup::new().settings("plan_approval: always").command(Role::Planner, &planner).build().await
}

fn prompt(world: &World) -> String {
    std::fs::read_to_string(world.folder().join("prompt")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_of_people_with_write_access_before_the_label_are_part_of_the_snapshot() {
    let world = world().await;
    world.open_issue(WRITER, "Say hello in files");
    let comment = |login: &str, text: &str| world.by(login).comment(REPO, ISSUE, text).unwrap();
    comment(WRITER, "We say it in lower case.");
    let edited = comment(WRITER, "Edited since.");
    comment(ADMIN, "Not in French. ![sketch](https://x.test/s.png)");
    comment(READER, "I would like it in Latin.");
    comment(WRITER, "/autobuild help");
    world.settle().await;
    world.forge.clear_calls();
    let hook = forge::Fault::on_delivery("issues.labeled", forge::Mishap::Hold);
    let held = world.forge.order(hook);
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.by(WRITER).edit_comment(REPO, edited, "Edited since, by its author.").unwrap();
    comment(ADMIN, "Too late.");
    held.release().await;
    world.settle().await;

    let told = prompt(&world);
    let newest = told.find("Not in French. [image, not read: sketch, https://x.test/s.png]");
    let oldest = told.find("We say it in lower case.");
    assert!(newest.is_some() && newest < oldest, "{told}");
    for absent in ["Latin", "Edited since", "Too late", "/autobuild help", "AutoBuild lists"] {
        assert!(!told.contains(absent), "{absent}: {told}");
    }
    let living = world.living().await;
    assert!(living.contains("agents read 2 comments"), "{living}");
    let asked = world.forge.calls().into_iter();
    let asked = asked.filter(|call| call.path.ends_with("/permission")).count();
    assert_eq!(asked, 3, "each of three people once, the sender among them");

    world.say(WRITER, ISSUE, "/autobuild plan").await;
    let told = prompt(&world);
    assert!(told.contains("Too late.") && told.contains("Edited since, by its author."), "{told}");
    assert!(world.living().await.contains("agents read 4 comments"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_long_discussion_the_newest_20_000_characters_count() {
    let world = world().await;
    world.open_issue(WRITER, "Say hello in files");
    for number in 0..250 {
        let login = [WRITER, ADMIN, READER][number % 3];
        let text = format!("Remark {number}. {}", "x".repeat(300));
        world.by(login).comment(REPO, ISSUE, &text).unwrap();
    }
    world.settle().await;
    world.forge.clear_calls();
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.settle().await;
    let told = prompt(&world);
    assert!(told.contains("Remark 249.") && told.contains("Remark 247."), "{told}");
    assert!(!told.contains("Remark 248."), "the reader's");
    assert!(!told.contains("Remark 12."), "too old");
    let kept = told.matches('x').count();
    assert!((15_000..20_500).contains(&kept), "{kept}");
    let newest = world.list(&format!("issues/{ISSUE}/comments?page=3")).await;
    let mut texts = newest.iter().filter_map(|comment| comment["body"].as_str());
    let living = texts.find(|text| text.contains("/living -->")).unwrap();
    assert!(living.contains("Older ones are left out."), "{living}");
    let calls = world.forge.calls().into_iter();
    let asked = calls.filter(|call| call.path.ends_with("/permission")).count();
    assert_eq!(asked, 3, "each of three people once, the sender among them");
    world.end().await;
}
