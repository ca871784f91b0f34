// Package benchmarks measures the recipes against a server in memory, and holds the
// budget of what a cycle of a free mutex allocates. Its results are for benchstat:
//
//	go test -run '^$' -bench . -count 10 ./internal/proof/benchmarks >old
//
// The server is a process of its own, so that allocations and processor time are the
// client's alone. It stores nothing: see bench for the rates with a real server, and
// for other libraries.
package benchmarks
