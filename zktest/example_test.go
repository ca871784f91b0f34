package zktest_test

import (
	"context"
	"testing"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// announce is the code under test. It makes an ephemeral node for a worker.
func announce(ctx context.Context, client *framework.Client, worker string) error {
	path := "/workers/" + worker
	if err := client.CreateParents(ctx, path); err != nil {
		return err
	}
	_, err := client.Create(ctx, path, []byte("ready"), framework.Ephemeral)
	return err
}

// In your package this is a test: name it TestAnnounce.
func announceTest(t *testing.T) {
	server := zktest.NewServer(t) // closed when the test ends
	client, err := framework.Connect(t.Context(), framework.Config{Servers: []string{server.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	if err := announce(t.Context(), client, "w1"); err != nil {
		t.Fatal(err)
	}
	// The test asks the server directly, without a client.
	node, ok := server.Node("/workers/w1")
	if !ok || string(node.Data) != "ready" || node.EphemeralOwner != client.Session().ID() {
		t.Errorf("wrong node %+v in\n%s", node, server.Dump())
	}
}

// A test with a server of its own.
func Example() {
	announceTest(new(testing.T)) // not in your package: there go test runs TestAnnounce
}
