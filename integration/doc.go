// Package integration holds the tests that run against real ZooKeeper servers, and what
// they stand on:
//
//   - ensemble starts one or three servers, as plain processes or as containers, and
//     kills, pauses and cuts them off;
//   - proxy stands between a client and a server and breaks the connection at a chosen
//     request, before or after the server carried it out.
//
// It is a module of its own, so that the modules a container engine's client needs
// never enter the module graph of those who use the recipes. README.md says how to run
// it.
package integration
