// Package zkprom has metrics of zkrecipes for Prometheus: how long locks are waited for
// and held, which leases are lost and why, how requests end, in which states clients
// are, and how much trust is left.
//
//	metrics, err := zkprom.New(zkprom.Config{Paths: []string{"/locks/*"}})
//	…
//	prometheus.MustRegister(metrics)
//	client, err := framework.Connect(ctx, framework.Config{
//		Servers:   servers,
//		Observers: []framework.Observer{metrics.Observer()},
//	})
//	…
//	metrics.Track(client)
//
// README.md lists the metrics. There is one [Metrics] for all clients of a process, but
// an Observer for each client.
//
// The label path is one of [Config].Paths or "other", never the path itself. All other
// labels have values from lists in the code. So there are never more series than
// these lists and the templates allow, whatever paths a program locks.
package zkprom
