//go:build realserver

package script_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest/internal/script"
)

// realServer is the address of the real server to compare with. A test that needs one
// fails without one.
func realServer(t *testing.T) script.Dialer {
	t.Helper()
	addr := os.Getenv("ZKRECIPES_REAL_SERVER")
	require.NotEmpty(t, addr, "ZKRECIPES_REAL_SERVER=host:port must name a ZooKeeper 3.8 started with "+
		"-Dzookeeper.extendedTypesEnabled=true, -Dznode.container.checkIntervalMs=86400000 and maxClientCnxns=0")
	dial := script.TCP(addr)
	nc, err := dial(t.Context())
	require.NoError(t, err, "the server named by ZKRECIPES_REAL_SERVER")
	require.NoError(t, nc.Close())
	return dial
}

// number returns the value of a variable, or a default.
func number(t *testing.T, name string, or int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return or
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// Random scripts have the same answers on both servers: ZKRECIPES_SCRIPTS of them
// (default 200) from ZKRECIPES_FIRST_SEED (default 1) on, 50 steps each.
func TestGeneratedScriptsAgree(t *testing.T) {
	theirs, ours := realServer(t), fakeServer(t)
	run := time.Now().UnixNano()
	tries := 0
	root := func() string {
		tries++
		return fmt.Sprintf("/g%d-%d", run, tries)
	}
	first, n := number(t, "ZKRECIPES_FIRST_SEED", 1), number(t, "ZKRECIPES_SCRIPTS", 200)
	bad := 0
	for seed := first; seed < first+n; seed++ {
		s := script.Generate(uint64(seed), 50)
		text, err := script.Compare(t.Context(), theirs, ours, root(), s)
		require.NoError(t, err, s.Name)
		if text == "" {
			continue
		}
		if bad++; bad <= 5 {
			small := script.Shrink(t.Context(), theirs, ours, root, s)
			text, err = script.Compare(t.Context(), theirs, ours, root(), small)
			require.NoError(t, err, s.Name)
			t.Errorf("%s", text)
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d scripts differ", bad, n)
	}
}

// TestTableAgrees runs the table on both servers. With ZKRECIPES_RECORD=1 it also
// records the real server's answers.
func TestTableAgrees(t *testing.T) {
	theirs, ours := realServer(t), fakeServer(t)
	run := time.Now().UnixNano()
	recorded := map[string][]string{}
	for i, s := range script.Table() {
		root := fmt.Sprintf("/t%d-%d", run, i)
		text, err := script.Compare(t.Context(), theirs, ours, root, s)
		require.NoError(t, err, s.Name)
		if text != "" {
			t.Errorf("%s", text)
		}
		if recorded[s.Name], err = script.Run(t.Context(), theirs, root+"r", s); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv("ZKRECIPES_RECORD") != "" {
		writeGolden(t, recorded)
	}
}

// writeGolden records the real server's answers to the table.
func writeGolden(t *testing.T, answers map[string][]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# What ZooKeeper 3.8 answers to the scripts of table.go. Recorded by TestTableAgrees; do not edit.\n")
	for _, s := range script.Table() {
		fmt.Fprintf(&b, "= %s\n", s.Name)
		for i, line := range answers[s.Name] {
			fmt.Fprintf(&b, "> %v\n< %s\n", s.Steps[i], line)
		}
	}
	require.NoError(t, os.MkdirAll("testdata", 0o755))
	require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
}
