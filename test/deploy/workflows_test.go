package deploy_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// workflow is what the tests read of a workflow of GitHub Actions.
type workflow struct {
	Name string
	On   yaml.Node
	Jobs map[string]struct {
		Needs       string
		Environment string
		Permissions map[string]string
		Steps       []struct{ Uses, Run string }
	}
}

// TestWorkflowsAreWellFormed reads each workflow, and has bash parse what its steps run.
func TestWorkflowsAreWellFormed(t *testing.T) {
	files, _ := filepath.Glob(root + "/.github/workflows/*.yaml")
	if len(files) < 2 {
		t.Fatalf("the workflows are %q, want those of CI and of a release", files)
	}
	for _, path := range files {
		var w workflow
		if err := yaml.Unmarshal([]byte(read(t, path)), &w); err != nil {
			t.Errorf("yaml.Unmarshal(%s): %v, want a workflow", path, err)
		}
		for name, job := range w.Jobs {
			for _, step := range job.Steps {
				if step.Uses != "" && !regexp.MustCompile(`^[\w-]+/[\w-]+@\S+$`).MatchString(step.Uses) {
					t.Errorf("%s: job %s uses %q, want an action with a version", path, name, step.Uses)
				}
				if out, err := exec.CommandContext(t.Context(), "bash", "-n", "-c", step.Run).CombinedOutput(); err != nil {
					t.Errorf("%s: the script of job %s is not what bash can parse: %v\n%s", path, name, err, out)
				}
			}
		}
	}
}

func TestCIRunsWhatChangesMustPass(t *testing.T) {
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, root+"/.github/workflows/ci.yaml")), &w); err != nil {
		t.Fatalf("ci.yaml: %v", err)
	}
	if !slices.ContainsFunc(w.Jobs["test"].Steps, func(s struct{ Uses, Run string }) bool { return s.Run == ".ci/run" }) {
		t.Errorf("the steps of the job test are %+v, want one that runs .ci/run", w.Jobs["test"].Steps)
	}
}

// TestReleaseIsPublishedAfterItsTestsAndApproval checks the order of the jobs, and that only those that publish may write.
func TestReleaseIsPublishedAfterItsTestsAndApproval(t *testing.T) {
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, root+"/.github/workflows/release.yaml")), &w); err != nil {
		t.Fatalf("release.yaml: %v", err)
	}
	tested := false
	for _, step := range w.Jobs["make"].Steps {
		tested = tested || step.Run == "make release-test"
	}
	if !tested {
		t.Errorf("the steps of the job make are %+v, want one that runs make release-test", w.Jobs["make"].Steps)
	}
	for name, job := range w.Jobs {
		if name == "make" {
			for scope, access := range job.Permissions {
				if access != "read" {
					t.Errorf("the job that makes the release may %s %s, want it to read alone", access, scope)
				}
			}
			continue
		}
		if job.Needs != "make" || job.Environment != "release" || job.Permissions["id-token"] != "write" {
			t.Errorf("job %s: needs %q, environment %q, permissions %v, want one that follows make, is approved and attests", name, job.Needs, job.Environment, job.Permissions)
		}
	}
}

// TestFormsAreWellFormed reads the forms for issues, whose fields have identifiers of their own.
func TestFormsAreWellFormed(t *testing.T) {
	files, _ := filepath.Glob(root + "/.github/ISSUE_TEMPLATE/*.yaml")
	if len(files) == 0 {
		t.Fatal("there is no form for issues, want at least one")
	}
	for _, path := range files {
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID   string
				Attributes struct{ Label, Value string }
			}
		}
		if err := yaml.Unmarshal([]byte(read(t, path)), &form); err != nil || form.Name == "" || form.Description == "" {
			t.Errorf("%s: name %q, description %q, %v, want both", path, form.Name, form.Description, err)
		}
		var ids []string
		for _, field := range form.Body {
			if field.Type == "markdown" {
				continue
			}
			if field.ID == "" || slices.Contains(ids, field.ID) || strings.TrimSpace(field.Attributes.Label) == "" {
				t.Errorf("%s: the field is %+v, want a label and an identifier of its own", path, field)
			}
			ids = append(ids, field.ID)
		}
	}
}
