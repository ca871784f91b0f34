// Package exampletest connects the examples of all recipes to a server.
package exampletest

import (
	"context"
	"log/slog"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Connect starts a ZooKeeper server in this process and connects to it. In a real
// program there are only the addresses of an ensemble.
func Connect(ctx context.Context) (client *framework.Client, stop func()) {
	server, err := zktest.Start()
	if err != nil {
		panic(err)
	}
	client, err = framework.Connect(ctx, framework.Config{
		Servers: []string{server.Addr()},
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	return client, func() {
		_ = client.Close()
		server.Close()
	}
}
