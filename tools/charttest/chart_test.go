// Package chart_test renders the Helm chart as "helm template" does, and reads what comes of it with the types of Kubernetes.
package chart_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

var chartFlag = flag.String("chart", "../../deploy/chart", "the `path` of the chart, a folder or a packed one")

// objects are the rendered objects by kind and name.
type objects map[string]any

// render renders the chart with values, and reads every object strictly: a field that Kubernetes does not know is an error.
func render(t *testing.T, values string) (objects, error) {
	t.Helper()
	c, err := loader.Load(*chartFlag)
	if err != nil {
		t.Fatalf("loader.Load(%s): %v", *chartFlag, err)
	}
	given := map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		t.Fatalf("values %s: %v", values, err)
	}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "box", Namespace: "mail"}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	found := make(objects)
	for name, text := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq(text, "\n---\n") {
			if err := found.add(document); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", name, err, document)
			}
		}
	}
	return found, nil
}

// add reads a document, which may be empty.
func (o objects) add(document string) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct{ Name string }
	}
	if err := yaml.Unmarshal([]byte(document), &head); err != nil || head.Kind == "" {
		return err
	}
	kinds := map[string]any{
		"v1/ConfigMap": new(core.ConfigMap), "v1/Secret": new(core.Secret), "v1/Service": new(core.Service), "v1/ServiceAccount": new(core.ServiceAccount),
		"apps/v1/StatefulSet": new(apps.StatefulSet), "apps/v1/Deployment": new(apps.Deployment),
		"networking.k8s.io/v1/Ingress": new(networking.Ingress), "networking.k8s.io/v1/NetworkPolicy": new(networking.NetworkPolicy),
		"policy/v1/PodDisruptionBudget": new(policy.PodDisruptionBudget),
	}
	object, known := kinds[head.APIVersion+"/"+head.Kind]
	if !known {
		return fmt.Errorf("the chart has no business with %s/%s", head.APIVersion, head.Kind)
	}
	name := head.Kind + "/" + head.Metadata.Name
	if o[name] != nil {
		return fmt.Errorf("%s is rendered twice", name)
	}
	o[name] = object
	return yaml.UnmarshalStrict([]byte(document), object)
}

func mustRender(t *testing.T, values string) objects {
	t.Helper()
	o, err := render(t, values)
	if err != nil {
		t.Fatalf("render the chart with %q: %v", values, err)
	}
	return o
}

// names are the kinds and names of all objects, in order.
func (o objects) names() []string {
	var all []string
	for name := range o {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

const onPostgres = `
mode: postgres
secrets: {databaseURL: "postgres://gonebox:x@db/gonebox", key: a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=}
`

func TestChartHasObjectsOfItsMode(t *testing.T) {
	for values, want := range map[string]string{
		"":                                "ConfigMap/box-gonebox NetworkPolicy/box-gonebox Service/box-gonebox-http Service/box-gonebox-smtp ServiceAccount/box-gonebox StatefulSet/box-gonebox",
		"networkPolicy: {enabled: false}": "ConfigMap/box-gonebox Service/box-gonebox-http Service/box-gonebox-smtp ServiceAccount/box-gonebox StatefulSet/box-gonebox",
		"{baseURL: 'https://box.example.org', ingress: {enabled: true, className: nginx, tlsSecretName: tls}, service: {smtp: {type: LoadBalancer, loadBalancerClass: example.org/lb}}}": "ConfigMap/box-gonebox Ingress/box-gonebox NetworkPolicy/box-gonebox Service/box-gonebox-http Service/box-gonebox-smtp ServiceAccount/box-gonebox StatefulSet/box-gonebox",
		onPostgres: "ConfigMap/box-gonebox Deployment/box-gonebox-edge Deployment/box-gonebox-jobs NetworkPolicy/box-gonebox PodDisruptionBudget/box-gonebox-edge Secret/box-gonebox Service/box-gonebox-http Service/box-gonebox-smtp ServiceAccount/box-gonebox",
		"{mode: postgres, secrets: {existingSecret: mine}, postgres: {edge: {replicas: 1}}}": "ConfigMap/box-gonebox Deployment/box-gonebox-edge Deployment/box-gonebox-jobs NetworkPolicy/box-gonebox Service/box-gonebox-http Service/box-gonebox-smtp ServiceAccount/box-gonebox",
	} {
		if got := mustRender(t, values).names(); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("with the values %q the chart renders %q, want %q", values, got, want)
		}
	}
}

// pods returns the pod of each object that has one, by the object's name.
func (o objects) pods() map[string]core.PodTemplateSpec {
	pods := make(map[string]core.PodTemplateSpec)
	for name, object := range o {
		switch object := object.(type) {
		case *apps.StatefulSet:
			pods[name] = object.Spec.Template
		case *apps.Deployment:
			pods[name] = object.Spec.Template
		}
	}
	return pods
}

func TestPodsAreConfined(t *testing.T) {
	for _, values := range []string{"", onPostgres} {
		for name, pod := range mustRender(t, values).pods() {
			c := pod.Spec.Containers[0]
			s := c.SecurityContext
			if !*pod.Spec.SecurityContext.RunAsNonRoot || *pod.Spec.SecurityContext.RunAsUser != 65532 || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
				t.Errorf("%s: security contexts %+v and %+v, want the user 65532, a read-only root and no capability", name, pod.Spec.SecurityContext, s)
			}
			if *pod.Spec.EnableServiceLinks || *pod.Spec.AutomountServiceAccountToken {
				t.Errorf("%s has service links or a token of the cluster, want neither", name)
			}
			if c.StartupProbe.HTTPGet.Path != "/healthz" || c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
				t.Errorf("%s: probes %v, %v, %v, want /healthz, /healthz and /readyz", name, c.StartupProbe, c.LivenessProbe, c.ReadinessProbe)
			}
			if c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s has no limit of memory, want one", name)
			}
		}
	}
}

func TestPostgresModeSplitsRolesAndTakesSecretsFromFiles(t *testing.T) {
	o := mustRender(t, onPostgres)
	for name, roles := range map[string]string{"Deployment/box-gonebox-edge": "smtp,api", "Deployment/box-gonebox-jobs": "jobs"} {
		c := o.pods()[name].Spec.Containers[0]
		if !slices.Equal(c.Args, []string{"serve", "--roles", roles}) {
			t.Errorf("%s runs %q, want serve --roles %s", name, c.Args, roles)
		}
		environ := make(map[string]string)
		for _, e := range c.Env {
			environ[e.Name] = e.Value
		}
		if environ["GONEBOX_DATABASE_URL_FILE"] != "/run/secrets/gonebox/database-url" || environ["GONEBOX_SECRETS_KEY_FILE"] != "/run/secrets/gonebox/key" {
			t.Errorf("%s has the environment %v, want files of the secret", name, environ)
		}
	}
	if secret := o["Secret/box-gonebox"].(*core.Secret); secret.StringData["key"] == "" || secret.StringData["database-url"] == "" {
		t.Errorf("the secret has the keys %v, want key and database-url", secret.StringData)
	}
	if config := o["ConfigMap/box-gonebox"].(*core.ConfigMap).Data["gonebox.yaml"]; strings.Contains(config, "postgres://") {
		t.Errorf("the configuration is\n%s\nwant no URL of a database in it", config)
	}
}

func TestServicesFindPods(t *testing.T) {
	for _, values := range []string{"", onPostgres} {
		o := mustRender(t, values)
		for _, name := range []string{"Service/box-gonebox-http", "Service/box-gonebox-smtp"} {
			s := o[name].(*core.Service)
			matches := 0
			for _, pod := range o.pods() {
				if !includes(pod.Labels, s.Spec.Selector) {
					continue
				}
				matches++
				if !slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(p core.ContainerPort) bool { return p.Name == s.Spec.Ports[0].TargetPort.StrVal }) {
					t.Errorf("%s leads to the port %s, want one that its pods have", name, s.Spec.Ports[0].TargetPort.StrVal)
				}
			}
			if matches != 1 {
				t.Errorf("with the values %q %s finds the pods of %d objects, want one", values, name, matches)
			}
		}
	}
}

func includes(labels, selector map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// TestConfigurationIsOverridden checks that config wins over what other values set, one key at a time.
func TestConfigurationIsOverridden(t *testing.T) {
	o := mustRender(t, "{domains: [box.example.org], smtpHostname: mx.example.org, config: {smtp: {hostname: other.example.org}, memory: {budget: 200MiB}}}")
	var config map[string]any
	if err := yaml.Unmarshal([]byte(o["ConfigMap/box-gonebox"].(*core.ConfigMap).Data["gonebox.yaml"]), &config); err != nil {
		t.Fatalf("read the configuration: %v", err)
	}
	smtp := config["smtp"].(map[string]any)
	if smtp["hostname"] != "other.example.org" || smtp["addr"] != ":2525" || config["data_dir"] != "/data" || fmt.Sprint(config["domains"]) != "[box.example.org]" || config["memory"] == nil {
		t.Errorf("the configuration is %v, want the values, and config over them", config)
	}
}

func TestWrongValuesAreRefused(t *testing.T) {
	for values, want := range map[string]string{
		"mode: cluster":              "mode",
		"mode: postgres":             "secrets.databaseURL",
		"domains: box.example.org":   "domains",
		"baseURL: box.example.org":   "baseURL",
		"secrets: {password: x}":     "password",
		"{ingress: {enabled: true}}": "ingress.host",
		"{mode: postgres, secrets: {databaseURL: 'postgres://db/gonebox'}}":      "secrets.key",
		"{mode: postgres, secrets: {databaseURL: 'mysql://db/gonebox', key: x}}": "databaseURL",
	} {
		if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with the values %q the chart renders with the error %v, want one about %s", values, err, want)
		}
	}
}

// TestServiceAcceptsConfiguration has the program read what the chart configures, if make test or make build has built it.
func TestServiceAcceptsConfiguration(t *testing.T) {
	program := os.Getenv("TEST_PROGRAM")
	if program == "" {
		t.Skip("TEST_PROGRAM names no built program")
	}
	for _, values := range []string{
		"", onPostgres,
		"{domains: [box.example.org], smtpHostname: mx.example.org, baseURL: 'https://box.example.org', trustedProxies: {http: [10.0.0.0/8], smtp: [10.0.0.0/8]}, metrics: {hosts: [metrics.example.org]}}",
		"{metrics: {enabled: false}, config: {memory: {budget: 200MiB}}}",
	} {
		path := filepath.Join(t.TempDir(), "gonebox.yaml")
		config := mustRender(t, values)["ConfigMap/box-gonebox"].(*core.ConfigMap).Data["gonebox.yaml"]
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), program, "config", "--config", path).CombinedOutput(); err != nil {
			t.Errorf("with the values %q gonebox config --config: %v\n%s\nof\n%s", values, err, out, config)
		}
	}
}
