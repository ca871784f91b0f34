// Package ensemble runs real ZooKeeper servers for tests: one, or three that elect a
// leader.
//
//	servers := ensemble.New(t, ensemble.Options{Nodes: 3})
//	leader, err := servers.Leader(ctx)
//	servers.Node(leader).Kill()
//
// Two backends do the work, chosen by Options.Backend or else by the environment
// variable ZKRECIPES_BACKEND:
//
//   - process (the default): Java processes started from the jars of Debian's
//     libzookeeper-java. Three servers serve after about a second and take less than
//     300 MB.
//   - docker: containers of the image named by ZKRECIPES_IMAGE, by default the official
//     zookeeper:3.9, on their own network. DOCKER_HOST is used if set. Only this
//     backend can cut a server off the network.
//
// # Guarantees
//
// A server keeps its address and its data through Kill and Start. When New returns, all
// servers serve. When the test ends, or the test binary dies, no process is left; the
// next test binary that starts containers on the same host removes those of a binary
// that died.
//
// A missing server is a failure that names the command which installs it, never a
// skipped test.
//
// # Limits
//
// Pause is not a partition: the kernel of a paused server still accepts connections.
// And a leader that is resumed still reports itself as the leader for a moment; Leader
// and AwaitReady therefore ask all servers and trust none alone.
package ensemble
