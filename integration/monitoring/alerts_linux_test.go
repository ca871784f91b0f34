package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/labels"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// exporterJob is the name of the job that the rules need.
const exporterJob = "zkrecipes-exporter"

// shipped returns the rules as they are shipped.
func shipped(t *testing.T) string {
	t.Helper()
	rules, err := os.ReadFile(filepath.Join(folder, "alerts.yml"))
	require.NoError(t, err)
	return string(rules)
}

// The first loss of a lease is enough, with the rules as they are.
func TestAlertWhenALeaseIsLost(t *testing.T) {
	t.Parallel() // it mostly waits
	server := zktest.NewServer(t)
	program := startProgram(t)
	prometheus := startPrometheus(t, shipped(t), map[string]string{"shop": program.addr})
	held := acquire(t, program.connect(t, server.Addr()), orders)
	prometheus.awaitQuiet("ZkrecipesLeaseLost", `sum(zkrecipes_losses_total) == 0`)

	sessions := server.Sessions()
	require.Len(t, sessions, 1)
	require.True(t, server.ExpireSession(sessions[0].ID))
	<-held.Done()
	reason := labels.Hold(held.Err()) // session-expired, or deleted: the end of a session deletes its nodes
	firing := prometheus.awaitFiring("ZkrecipesLeaseLost")
	require.Len(t, firing, 1)
	assert.Equal(t, map[string]string{
		"alertname": "ZkrecipesLeaseLost", "severity": "warning", "job": "shop", "instance": program.addr,
		"path": orders, "recipe": "mutex", "reason": reason,
	}, firing[0].Labels)
	assert.Equal(t, "A lease on "+orders+" was lost: "+reason, firing[0].Annotations["summary"])
}

// These alerts wait for minutes before they fire, which is the only thing that is
// changed here.
func TestAlertsWhenZooKeeperIsGone(t *testing.T) {
	t.Parallel() // it mostly waits
	server := zktest.NewServer(t)
	program := startProgram(t)
	program.connect(t, server.Addr())
	rules := regexp.MustCompile(`(?m)^(\s+for:) .*$`).ReplaceAllString(shipped(t), "$1 0s")
	prometheus := startPrometheus(t, rules, map[string]string{"shop": program.addr, exporterJob: startExporter(t, server.Addr())})
	prometheus.awaitQuiet("ZkrecipesClientNotConnected", `zkrecipes_clients{state="connected"} == 1`)
	prometheus.awaitQuiet("ZkrecipesSurveyFails", `zkrecipes_exporter_up == 1`)

	server.Close()
	assert.Equal(t, "shop", prometheus.awaitFiring("ZkrecipesClientNotConnected")[0].Labels["job"])
	assert.Equal(t, exporterJob, prometheus.awaitFiring("ZkrecipesSurveyFails")[0].Labels["job"])
}
