package zktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// In your package this is a test: name it TestTakeover. Its session of 30 s expires in
// virtual time, so the test takes some milliseconds.
func takeoverTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Network, server and clients belong to the bubble.
		server := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		connect := func(name string) *framework.Client {
			client, err := framework.Connect(t.Context(), framework.Config{
				Servers:        []string{server.Addr()},
				Dial:           server.Dial(name), // faults use this name
				SessionTimeout: 30 * time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() })
			return client
		}
		primary, standby := connect("primary"), connect("standby")
		if _, err := primary.Create(t.Context(), "/primary", nil, framework.Ephemeral); err != nil {
			t.Fatal(err)
		}
		_, _, watch, err := standby.GetWatch(t.Context(), "/primary")
		if err != nil {
			t.Fatal(err)
		}

		began := time.Now()
		server.Partition("primary", true) // nothing passes between server and primary
		<-watch.Events()                  // the node is deleted with its session
		if waited := time.Since(began); waited < 20*time.Second || waited > 30*time.Second {
			t.Errorf("the session expired after %v", waited)
		}
		if primary.State() == framework.Connected {
			t.Error("the primary still trusts its session")
		}
		server.Partition("primary", false)
	})
}

// Virtual time: with testing/synctest and a [zktest.Network] nothing waits for real.
func Example_virtualTime() {
	takeoverTest(new(testing.T)) // not in your package: there go test runs TestTakeover
}
