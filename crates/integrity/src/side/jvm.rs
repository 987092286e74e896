//! Java and Kotlin: source sets of Maven and Gradle. Their build files are the product's.

use super::ecosystem::Ecosystem;

pub(super) static JVM: Ecosystem = Ecosystem {
    paths: "
        src/test/ src/it/ src/testFixtures/ src/integrationTest/ src/functionalTest/ src/androidTest/ src/commonTest/
        src/jvmTest/ src/jsTest/ src/nativeTest/ testng.xml junit-platform.properties .mvn/maven.config
    ",
    modules: "",
    shared: &[],
};
