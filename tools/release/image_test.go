package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// imageIndex returns the index of the image that a layout has one reference to.
func imageIndex(t *testing.T, dir string) v1.ImageIndex {
	t.Helper()
	path, err := layout.FromPath(dir)
	if err != nil {
		t.Fatalf("layout.FromPath(%s): %v", dir, err)
	}
	top, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != made.version {
		t.Fatalf("the layout %s refers to %+v, %v, want one index with the name %s", dir, manifest, err, made.version)
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// TestImageLayoutAndTarAreTheSame validates every digest of the image, and compares its two forms.
func TestImageLayoutAndTarAreTheSame(t *testing.T) {
	dir := filepath.Join(made.dist, "gonebox_"+made.version+"_image")
	unpacked := t.TempDir()
	output(t, unpacked, nil, "tar", "-xf", artefact(t, "gonebox_*_image.tar"))
	index := imageIndex(t, unpacked)
	if err := validate.Index(index); err != nil {
		t.Errorf("validate.Index of the image: %v", err)
	}
	want, err := sumsOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sumsOf(unpacked); err != nil || !maps.Equal(got, want) {
		t.Errorf("the tar has the files %v, %v, want those of the layout, %v", got, err, want)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.MediaType != types.OCIImageIndex {
		t.Errorf("the index has the media type %s, want %s", manifest.MediaType, types.OCIImageIndex)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		if m.MediaType != types.OCIManifestSchema1 {
			t.Errorf("%s has the media type %s, want %s", m.Platform, m.MediaType, types.OCIManifestSchema1)
		}
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		checkConfig(t, m.Platform, config)
	}
	if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("the image is for %q, want linux/amd64 and linux/arm64", platforms)
	}
}

func checkConfig(t *testing.T, p *v1.Platform, f *v1.ConfigFile) {
	t.Helper()
	c := f.Config
	if f.Architecture != p.Architecture || c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/gonebox"}) || !slices.Equal(c.Cmd, []string{"serve"}) {
		t.Errorf("%s: the configuration is %+v, want the architecture %s, the user 65532 and /gonebox serve", p, f, p.Architecture)
	}
	if _, ok := c.Volumes["/data"]; !ok || !slices.Contains(c.Env, "GONEBOX_DATA_DIR=/data") {
		t.Errorf("%s: volumes %v, environment %q, want /data in both", p, c.Volumes, c.Env)
	}
	if c.Healthcheck == nil || !slices.Equal(c.Healthcheck.Test, []string{"CMD", "/gonebox", "ready"}) {
		t.Errorf("%s: the health check is %+v, want gonebox ready", p, c.Healthcheck)
	}
	if c.Labels["org.opencontainers.image.version"] != made.version || c.Labels["io.modelcontextprotocol.server.name"] == "" || !f.Created.Time.Equal(made.date) {
		t.Errorf("%s: labels %v, created %v, want the version %s and the time of the commit, %v", p, c.Labels, f.Created, made.version, made.date)
	}
}

// TestImageRunsOnReadOnlyRoot starts the image by its own entry point, user and environment, in a root directory that is mounted
// read-only but for its volume.
func TestImageRunsOnReadOnlyRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount the image read-only")
	}
	index := imageIndex(t, filepath.Join(made.dist, "gonebox_"+made.version+"_image"))
	root, config := unpackImage(t, index)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "unshare", append([]string{"--mount", "sh", "-ec", `
		mount --bind "$1" "$1"
		mount --bind "$2" "$1/data"
		mount -o remount,bind,ro "$1"
		root=$1 user=$3
		shift 3
		if touch "$root/file" 2>/dev/null; then echo "the root is writable" >&2; exit 1; fi
		exec chroot --userspec="$user" "$root" "$@"`, "sh", root, volume(t), config.User}, slices.Concat(config.Entrypoint, config.Cmd)...)...)
	cmd.Env = append(slices.Clone(config.Env), "PATH="+os.Getenv("PATH"))
	s := start(t, cmd)
	program := filepath.Join(root, "gonebox")
	s.readCode(program)
	health := config.Healthcheck.Test[1:]
	output(t, "/", []string{"GONEBOX_HTTP_ADDR=" + s.http}, filepath.Join(root, health[0]), health[1:]...)
}

// unpackImage writes the files of the image for this machine into a folder, as a container engine does.
func unpackImage(t *testing.T, index v1.ImageIndex) (root string, config v1.Config) {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		if m.Platform.Architecture != here.arch {
			continue
		}
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		f, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		root = t.TempDir()
		for at := root; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
			if err := os.Chmod(at, 0o755); err != nil { //nolint:gosec // the service runs as another user
				t.Fatal(err)
			}
		}
		flat := mutate.Extract(image)
		defer flat.Close()
		untar := exec.CommandContext(t.Context(), "tar", "-x", "--same-owner", "--preserve-permissions", "-C", root)
		untar.Stdin = flat
		if out, err := untar.CombinedOutput(); err != nil {
			t.Fatalf("unpack the image: %v\n%s", err, out)
		}
		_, _ = io.Copy(io.Discard, flat)
		return root, f.Config
	}
	t.Fatalf("the image is for no %s, want it for this machine", here)
	return "", v1.Config{}
}

// volume returns an empty folder that the user of the image owns.
func volume(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "volume")
	output(t, "/", nil, "install", "-d", "-m", "0700", "-o", fmt.Sprint(unprivileged), "-g", fmt.Sprint(unprivileged), dir)
	return dir
}
