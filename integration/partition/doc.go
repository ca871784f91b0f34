// Package partition holds tests with three real servers whose network is cut and that
// are frozen and restarted, while processes contend for one mutex on all sides. At most
// one lease is valid at any time, and the old one has ended a sixth of the session
// timeout before somebody else is granted the next.
//
// Four of them are one fault each that leaves a leader without its quorum that does not
// know: for a while it goes on answering syncs and revalidating sessions, of a reign
// that is over. The fifth causes faults at random.
//
// Everything runs in network, mount and process namespaces that a test makes for
// itself, so that nothing outside is touched, tests run beside each other, and nothing
// is left when the test binary is killed. That needs Linux, root, the commands ip and
// iptables, and a ZooKeeper: .ci/install-netns and .ci/install-zookeeper install what
// is missing, which fails a test and never skips it.
//
// ZKRECIPES_PARTITION_RUNS says how often each of the four runs, once by default;
// ZKRECIPES_PARTITION_TIME for how long there are random faults, two minutes by
// default; ZKRECIPES_SEED repeats the random faults of an earlier run, as far as time
// allows.
package partition
