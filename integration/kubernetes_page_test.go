package integration

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The types are the parts of Kubernetes' objects that the manifests use; kubectl 1.32
// takes each of their fields.
type (
	manifest struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   metadata
		Spec       struct {
			podSpec           `yaml:",inline"`
			workload          `yaml:",inline"`
			MaxUnavailable    int `yaml:"maxUnavailable"`
			Schedule          string
			ConcurrencyPolicy string                  `yaml:"concurrencyPolicy"`
			JobTemplate       struct{ Spec workload } `yaml:"jobTemplate"`
		}
	}
	metadata struct {
		Name   string
		Labels map[string]string
	}
	workload struct {
		Replicas     int
		BackoffLimit int `yaml:"backoffLimit"`
		Selector     struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata metadata
			Spec     podSpec
		}
	}
	podSpec struct {
		TerminationGracePeriodSeconds int         `yaml:"terminationGracePeriodSeconds"`
		RestartPolicy                 string      `yaml:"restartPolicy"`
		InitContainers                []container `yaml:"initContainers"`
		Containers                    []container
	}
	container struct {
		Name, Image string
		Command     []string
		Env         []struct {
			Name, Value string
			ValueFrom   struct {
				FieldRef struct {
					FieldPath string `yaml:"fieldPath"`
				} `yaml:"fieldRef"`
				SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
			} `yaml:"valueFrom"`
		}
		Ports []struct {
			Name          string
			ContainerPort int `yaml:"containerPort"`
		}
		ReadinessProbe podProbe `yaml:"readinessProbe"`
		LivenessProbe  podProbe `yaml:"livenessProbe"`
		Lifecycle      struct {
			PreStop struct{ Exec struct{ Command []string } } `yaml:"preStop"`
		}
		Resources struct{ Requests, Limits map[string]string }
	}
	podProbe struct {
		HTTPGet struct {
			Path, Port string
		} `yaml:"httpGet"`
		PeriodSeconds    int `yaml:"periodSeconds"`
		FailureThreshold int `yaml:"failureThreshold"`
	}
)

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)\n```$")

// The manifests of docs/kubernetes.md have no field that their kind does not have, as
// far as this knows them, selectors find their pods, and the command's lines are as
// the command takes them.
func TestManifestsOfTheKubernetesPage(t *testing.T) {
	page, err := os.ReadFile("../docs/kubernetes.md")
	require.NoError(t, err)
	kinds := map[string]string{
		"Deployment": "apps/v1", "PodDisruptionBudget": "policy/v1", "CronJob": "batch/v1", "Pod": "v1",
	}
	commands := 0
	for _, block := range yamlBlock.FindAllStringSubmatch(string(page), -1) {
		var object manifest
		decoder := yaml.NewDecoder(strings.NewReader(block[1]))
		decoder.KnownFields(true)
		require.NoError(t, decoder.Decode(&object), block[1])
		require.Equal(t, kinds[object.Kind], object.APIVersion, object.Kind)
		require.NotEmpty(t, object.Metadata.Name)
		if object.Kind == "Deployment" {
			assert.Equal(t, object.Spec.Template.Metadata.Labels, object.Spec.Selector.MatchLabels)
		}
		for _, pod := range []podSpec{object.Spec.podSpec, object.Spec.Template.Spec, object.Spec.JobTemplate.Spec.Template.Spec} {
			for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
				if len(c.Command) > 0 {
					commands++
					checkContainerCommand(t, c.Command)
				}
			}
		}
	}
	require.Equal(t, 3, commands)
}

// checkContainerCommand runs the command of a container in place, with a program that
// exists, and without servers: it gets as far as that these are missing.
func checkContainerCommand(t *testing.T, command []string) {
	t.Helper()
	require.Equal(t, "zkrecipes", command[0])
	end := slices.Index(command, "--")
	require.Positive(t, end)
	args := append(slices.Clone(command[1:end]), "--", "true")
	r := startCommand(t, "", args...)
	require.Equal(t, 64, r.exit(t), "%v", command)
	require.Contains(t, r.stderr.String(), "no servers", "%v", command)
}
