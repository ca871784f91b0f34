// Package servers starts and stops what the clients of a comparison talk to: a real
// ZooKeeper, etcd, Redis and PostgreSQL, each alone, that writes to a disk before it
// answers.
package servers
