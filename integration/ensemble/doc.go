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
//     zookeeper:3.9, on a network of their own. DOCKER_HOST is honoured. Only here a
//     server can be cut off the network.
//
// # What is promised
//
// A server keeps its address and its data through Kill and Start. When New returns, all
// servers serve. When the test ends, or the test binary dies, no process stays behind;
// containers of a test binary that died are removed by the next one that starts
// containers on the same host.
//
// A missing server is a failure that names the command which installs it, never a
// skipped test.
//
// # What is not
//
// Pause is not a partition: the kernel of a paused server still accepts connections.
// And a leader that is resumed goes on calling itself leader for a moment; Leader and
// AwaitReady therefore ask all servers and believe none of them alone.
package ensemble
