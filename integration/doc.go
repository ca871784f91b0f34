// Package integration holds the tests that run against real ZooKeeper servers, and the
// packages that they need:
//
//   - ensemble starts one or three servers, as plain processes or as containers, and
//     kills, pauses and cuts them off;
//   - proxy forwards between a client and a server and breaks the connection at a
//     chosen request, before or after it takes effect.
//
// It is a separate module, so that the modules of a container engine's client never
// enter the module graph of users. README.md says how to run it.
package integration
