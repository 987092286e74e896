use super::Measured;
use effort::{Reader, Text, assert_linear};

fn hits(measured: &Measured, path: &str) -> Vec<(u32, u64)> {
    let lines = measured.of(path, "/build").unwrap();
    lines.iter().map(|(line, hits)| (*line, *hits)).collect()
}

#[test]
fn every_format_says_the_same() {
    let lcov = "TN:\nSF:/build/src/a.py\nFN:1,f\nDA:1,3\nDA:2,0,hash\nDA:3,1\nLF:3\nend_of_record\nSF:src/b.py\nDA:7,1\nend_of_record\n";
    let cobertura = "<?xml version=\"1.0\"?>\n<!DOCTYPE coverage SYSTEM 'http://cobertura.sourceforge.net/xml/coverage-04.dtd'>\n\
        <coverage><sources><source>/build/src</source></sources><packages><package><classes>\
        <class filename='a.py'><methods/><lines><line number='1' hits='3'/><line number='2' hits='0'/><line number='3' hits='1'/></lines></class>\
        </classes></package></packages></coverage>";
    let llvm = r#"{"data":[{"files":[{"filename":"/build/src/a.py","segments":
        [[1,1,3,true,true,false],[2,5,0,true,true,false],[2,9,1,true,false,false],[3,2,0,false,false,false]]}],"totals":{}}],"type":"x"}"#;
    let lines = [(1, 3), (2, 0), (3, 1)];
    assert_eq!(hits(&Measured::read(lcov.as_bytes()).unwrap(), "src/a.py"), lines);
    assert_eq!(hits(&Measured::read(cobertura.as_bytes()).unwrap(), "src/a.py"), lines);
    // If only an inner region of a line is missed, the line ran as often as the region around it.
    let partly = [(1, 3), (2, 3), (3, 1)];
    assert_eq!(hits(&Measured::read(llvm.as_bytes()).unwrap(), "src/a.py"), partly);
}

#[test]
fn a_profile_of_go_names_files_by_their_import_paths() {
    let profile = "mode: set\nexample.com/x/src/a.go:1.30,2.9 1 3\nexample.com/x/src/a.go:2.9,4.3 2 0\nexample.com/x/b.go:7.1,7.9 1 1\n";
    let measured = Measured::read(profile.as_bytes()).unwrap();
    assert_eq!(hits(&measured, "src/a.go"), [(1, 3), (2, 3), (3, 0), (4, 0)]);
    assert!(measured.of("a.go", "/build").is_some() && measured.of("other/a.go", "/build").is_none());
    let long = "mode: set\nx/a.go:1.1,4000000000.1 1 1\n";
    for text in [long, "mode: set\nx/a.go 1\n", "mode: set\nx/a.go:2.1,1.1 1 1\n"] {
        assert!(Measured::read(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn files_are_found_however_they_are_spelled_and_never_guessed() {
    let read = |name: &str| Measured::read(format!("SF:{name}\nDA:1,1\n").as_bytes()).unwrap();
    for name in ["pkg/src/a.py", "./pkg/src/a.py", "/build/pkg/src/a.py", "src/a.py", "a.py"] {
        assert!(read(name).of("pkg/src/a.py", "/build").is_some(), "{name}");
    }
    for name in ["b.py", "xa.py", "/elsewhere/a.py", "other/src/a.py"] {
        assert!(read(name).of("pkg/src/a.py", "/build").is_none(), "{name}");
    }
    let two = Measured::read(b"SF:a.py\nDA:1,1\nSF:src/a.py\nDA:1,0\n").unwrap();
    assert!(two.of("pkg/src/a.py", "/build").is_none());
}

#[test]
fn what_is_no_coverage_is_refused() {
    let bomb = "<!DOCTYPE x [<!ENTITY a '&b;&b;&b;'><!ENTITY b '&a;&a;'>]><coverage>&a;</coverage>";
    let texts: [&[u8]; 8] =
        [b"", b"hello", b"{}", b"{\"data\": 3}", b"<html/>", b"SF:a\nDA:x,y\n", bomb.as_bytes(), &[0xff, 0xfe]];
    for text in texts {
        assert!(Measured::read(text).is_err(), "{}", String::from_utf8_lossy(text));
    }
}

/// Returns the error for a file that exceeds a limit, which must come quickly.
fn refusal(text: &str) -> String {
    Measured::read(text.as_bytes()).unwrap_err()
}

#[test]
fn a_file_that_is_nested_or_long_without_end_is_refused_in_one_pass() {
    let class = "<class filename='a'><lines><line number='1' hits='1'/></lines>";
    let nested = format!("<coverage>{}", class.repeat(300_000));
    assert!(refusal(&nested).contains("nested deeper than 128 elements"));
    let closed = format!("<coverage>{}{}</coverage>", class.repeat(300_000), "</class>".repeat(300_000));
    assert!(refusal(&closed).contains("nested deeper than 128 elements"));
    let laughs = "<!DOCTYPE coverage [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><coverage>&b;</coverage>";
    assert!(refusal(laughs).contains("entities of its own"));
    let attributes: String = (0..100_000).map(|number| format!(" a{number}='1'")).collect();
    assert!(refusal(&format!("<coverage{attributes}/>")).contains("more than 64 attributes"));
    assert!(refusal("<coverage><packages>").contains("ends in the middle"));
    assert!(refusal(&format!("{{\"data\": {}", "[".repeat(1_000_000))).contains("JSON"));
    let many = format!("[{}true]", "1,".repeat(1_000_000));
    assert!(
        refusal(&format!(r#"{{"data": [{{"files": [{{"filename": "a", "segments": [{many}]}}]}}]}}"#)).contains("JSON")
    );
    assert!(refusal(&format!("SF:{}\nDA:1,1\n", "a".repeat(5_000))).contains("4096 bytes"));
    // Two segments may cover all the lines between them.
    let segments: Vec<String> = (0..100).map(|n| format!("[{},1,1,true,true,false]", n * 900_000)).collect();
    let far = format!(r#"{{"data": [{{"files": [{{"filename": "a", "segments": [{}]}}]}}]}}"#, segments.join(","));
    assert!(refusal(&far).contains("more than 4000000 lines"));
}

#[test]
fn cobertura_is_read_in_utf_16_and_wherever_its_sources_stand() {
    let text = "<coverage><packages><package><classes><class filename='a.py'><lines><line number='1' hits='3'/></lines>\
        <methods><method><lines><line number='2' hits='-1'/></lines></method></methods></class></classes></package></packages>\
        <sources><source>\n/build/<![CDATA[src]]>/</source><source>.</source></sources></coverage>";
    let wide: Vec<u8> = std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for bytes in [text.as_bytes(), &wide] {
        assert_eq!(hits(&Measured::read(bytes).unwrap(), "src/a.py"), [(1, 3), (2, 0)]);
    }
}

#[test]
fn eight_times_the_file_is_eight_times_the_work() {
    let read: &dyn Fn(&str) = &|text| drop(Measured::read(text.as_bytes()));
    assert_linear(&[Reader {
        name: "coverage",
        read,
        own: &[
            Text("SF:a\n", "", "DA:{n},1\n"),
            Text("", "", "SF:f{n}\nDA:1,1\n"),
            Text("<coverage><class filename='a'>", "", "<line number='{n}' hits='1'/>"),
            Text("<coverage>", "", "<class filename='a{n}'/>"),
            Text("{\"data\":[{\"files\":[", "", "{\"filename\":\"a{n}\",\"segments\":[]},"),
            Text("mode: set\n", "", "a.go:{n}.1,{n}.2 1 1\n"),
        ],
    }]);
}
