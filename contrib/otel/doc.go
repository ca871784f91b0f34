// Package zkotel has traces and metrics of zkrecipes for OpenTelemetry: how long locks
// are waited for and held, by which request, which leases are lost and why, how
// requests end, in which states clients are, and how much trust is left.
//
//	telemetry, err := zkotel.New(zkotel.Config{Paths: []string{"/locks/orders", "/locks/tenants/*"}})
//	…
//	client, err := framework.Connect(ctx, framework.Config{
//		Servers:   servers,
//		Observers: []framework.Observer{telemetry.Observer()},
//	})
//	…
//	telemetry.Track(client)
//
// README.md lists the spans and the metrics, with their attributes. There is one
// [Telemetry] for all clients of a process, but an Observer for each client.
//
// # Traces
//
// Each acquire has a span, and each hold has another, which begins when that has ended.
// Both have the span of the context given to Acquire as parent. The context of a lease
// has the span of the hold, so that spans of the work under the lease are its children.
//
// Spans have the whole path as attribute. No attribute has anything that is stored in
// ZooKeeper; but the status of a span that failed has the text of the error, which says
// who holds, if the acquire timed out.
//
// # Metrics
//
// Metrics have a template of [Config].Paths in place of the path, or "other". All other
// attributes have values from lists in the code. So there are never more series than
// these lists and the templates allow, whatever paths a program locks.
//
// They are recorded with the context of what they measure, so that exemplars lead to
// its trace.
package zkotel
