package script_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/zktest"
	"github.com/zkrecipes/zkrecipes/zktest/internal/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeServer starts a zktest server, on TCP so that addresses are alike.
func fakeServer(t *testing.T) script.Dialer {
	t.Helper()
	return script.TCP(zktest.NewServer(t).Addr())
}

const golden = "testdata/real-3.8.txt"

// readGolden returns the recorded steps and answers by script.
func readGolden(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open(golden)
	require.NoError(t, err)
	defer f.Close()
	out, name := map[string][]string{}, ""
	for in := bufio.NewScanner(f); in.Scan(); {
		switch kind, text, _ := strings.Cut(in.Text(), " "); kind {
		case "=":
			name = text
			out[name] = []string{}
		case ">", "<":
			out[name] = append(out[name], text)
		}
	}
	return out
}

// The answers of zktest to the table are those recorded from a real server.
func TestTableMatchesRecording(t *testing.T) {
	recorded := readGolden(t)
	dial := fakeServer(t)
	for i, s := range script.Table() {
		t.Run(s.Name, func(t *testing.T) {
			lines, err := script.Run(t.Context(), dial, fmt.Sprintf("/t%d", i), s)
			require.NoError(t, err)
			var got []string
			for j, line := range lines {
				got = append(got, s.Steps[j].String(), line)
			}
			require.Equal(t, recorded[s.Name], got, "the table and its recording differ: record again if the table changed")
		})
	}
}

func TestTableNamesAreUnique(t *testing.T) {
	var names []string
	for _, s := range script.Table() {
		require.NotContains(t, names, s.Name)
		names = append(names, s.Name)
	}
}

// Random scripts have the same answers over TCP and over an in-memory network.
func TestTransportsAgree(t *testing.T) {
	mem := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
	dial := mem.Dial("script")
	onMem := func(ctx context.Context) (net.Conn, error) { return dial(ctx, "mem", mem.Addr()) }
	onTCP := fakeServer(t)
	for seed := range uint64(20) {
		s := script.Generate(seed, 50)
		// An ACL by address rightly differs between the two.
		s.Steps = slices.DeleteFunc(s.Steps, func(x script.Step) bool {
			return strings.Contains(x.String(), "{{ip") || strings.Contains(x.String(), "{ip") || x.Op == zktest.OpWhoAmI
		})
		text, err := script.Compare(t.Context(), onTCP, onMem, fmt.Sprintf("/x%d", seed), s)
		require.NoError(t, err)
		require.Empty(t, text)
	}
}

func TestGenerateRepeats(t *testing.T) {
	first, again := script.Generate(7, 100), script.Generate(7, 100)
	require.Equal(t, first, again)
	require.NotEqual(t, script.Generate(7, 100), script.Generate(8, 100))
}
