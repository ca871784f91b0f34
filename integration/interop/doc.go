// Package interop holds tests with other people's clients: Apache Curator, ZooKeeper's
// own command line, kazoo and the go-zookeeper library, unchanged, against package
// zktest and against a real server, with the same results; and Go and Java processes
// that exclude each other on one path, also while they are killed and paused.
//
// They need a JDK, and jars and kazoo of Debian's packages, which .ci/install-clients
// installs. Jars from elsewhere can be named by ZKRECIPES_CLIENT_CLASSPATH, a class
// path that has Curator's recipes, ZooKeeper, commons-cli, a binding of slf4j and all
// that these need; JAVA_HOME chooses the JDK. ZKRECIPES_CLIENT_PYTHON names another
// Python, that has kazoo. What is missing fails a test and is never skipped.
//
// TestGoAndJavaUnderKills takes a minute, or what ZKRECIPES_CONTEST says, such as 10m.
// ZKRECIPES_SEED repeats the kills of an earlier run.
//
// The expected results are in testdata. They are recorded from the real server by
//
//	go test -run Transcript -update
package interop
