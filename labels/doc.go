// Package labels makes values for the labels of metrics from what a
// [framework.Observer] is told: few different ones, whatever the paths and the errors.
// The modules contrib/prometheus and contrib/otel use it; so can an observer of your
// own, for another system.
//
//	pathOf, err := labels.Paths("/locks/orders", "/locks/tenants/*")
//	…
//	HoldEnded: func(ctx context.Context, e framework.HoldEnd) {
//		holds.Count(pathOf(e.Path), e.Recipe, labels.Hold(e.Err))
//	},
//
// All functions are safe for concurrent use.
package labels
