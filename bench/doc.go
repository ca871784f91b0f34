// Command bench compares this project's recipes with the bare calls of go-zookeeper and
// with other libraries, each on its own server, side by side.
//
//	bench peers [-systems ours,gozk] [-workloads free,path-16] [-rounds 5] [-slice 1s]
//	bench faults [-systems ours,etcd] [-faults killed,cutoff] [-rounds 5]
//	bench scale [-systems ours] [-processes 4] [-waiters 5000] [-held 10000] [-busy 0]
//
// It starts all servers and stops them. Each system runs in processes of its own, which
// package contend describes. In a round all systems do the same workload one after the
// other, each for a slice, and every round begins with another one. So a machine that
// becomes slower or faster meanwhile does so for all: read the ratios to the bare calls
// of the same round, and their spread.
//
// A server or library that is not installed is an error that says how to get it.
package main
