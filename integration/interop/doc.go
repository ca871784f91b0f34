// Package interop holds tests with other clients: Apache Curator, ZooKeeper's own
// command line, kazoo and the go-zookeeper library, unchanged, against package zktest
// and against a real server, with the same results; the locks of go-zookeeper and kazoo
// on the path of a mutex, and what that of go-zookeeper does when something goes wrong;
// and Go and Java processes that exclude each other on one path, or with multi-locks on
// several, also while they are killed and paused.
//
// They need a JDK, and jars and kazoo of Debian's packages, which .ci/install-clients
// installs. ZKRECIPES_CLIENT_CLASSPATH names other jars: a class path with Curator's
// recipes, ZooKeeper, commons-cli, a binding of slf4j and their dependencies. JAVA_HOME
// chooses the JDK, and ZKRECIPES_CLIENT_PYTHON another Python that has kazoo. If
// something is missing, tests fail and are never skipped.
//
// TestGoAndJavaUnderKills takes a minute, or what ZKRECIPES_CONTEST says, such as 10m.
// ZKRECIPES_SEED repeats the kills of an earlier run.
//
// The expected results are in testdata. They are recorded from the real server by
//
//	go test -run Transcript -update
package interop
