// Package servers starts and stops what the clients of a comparison talk to: a real
// ZooKeeper, etcd and Redis, each as one process that writes to a disk before it
// answers.
package servers
