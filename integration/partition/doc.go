// Package partition holds tests with three real servers whose network is cut and that
// are frozen and restarted, while processes contend for one mutex on all sides. At most
// one lease is valid at any time, and it ends a sixth of the session timeout before
// another client is granted the next. Four tests cause one fault each that leaves a
// leader without its quorum, which does not know: for some time it still answers syncs
// and revalidates sessions, although its term (epoch) is over. The fifth causes random
// faults. Each test runs in its own network, mount and process namespaces, so that it
// changes nothing outside, tests run in parallel, and nothing is left when the test
// binary is killed. That needs Linux, root, the commands ip and iptables, and a
// ZooKeeper: .ci/install-netns and .ci/install-zookeeper install these. If one is
// missing, the tests fail and are never skipped. ZKRECIPES_PARTITION_RUNS is how often
// each of the four runs, once by default; ZKRECIPES_PARTITION_TIME for how long there
// are random faults, two minutes by default; ZKRECIPES_SEED repeats the random faults
// of an earlier run, as far as time allows.
package partition
