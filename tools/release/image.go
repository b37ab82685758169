package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	registrytar "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// unprivileged is the user and the group of the image.
const unprivileged = 65532

// image writes the image for every architecture of Linux: as a layout (a folder of the OCI image specification) and as the
// same in a tar archive. It is what deploy/Containerfile describes.
func (r *release) image(context.Context) error {
	base, err := r.baseLayer()
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		image, err := r.imageFor(p, base)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
	}
	index = mutate.Annotations(index, r.labels()).(v1.ImageIndex)
	name := "gonebox_" + r.version + "_image"
	dir := filepath.Join(r.dist, name)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	reference := map[string]string{"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": imageName + ":" + r.version}
	if err := path.AppendIndex(index, layout.WithAnnotations(reference)); err != nil {
		return err
	}
	all, err := filesOf(dir)
	if err != nil {
		return err
	}
	return r.archive(name+".tar", all)
}

// imageFor returns the image for a platform.
func (r *release) imageFor(p platform, base v1.Layer) (v1.Image, error) {
	program, err := r.layer([]file{{name: "gonebox", mode: 0o755, body: r.binaries[p]}})
	if err != nil {
		return nil, err
	}
	image := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: p.os, Architecture: p.arch, Created: v1.Time{Time: r.date},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: "65532:65532", Entrypoint: []string{"/gonebox"}, Cmd: []string{"serve"}, WorkingDir: "/",
			Env:          []string{"GONEBOX_DATA_DIR=/data"},
			Volumes:      map[string]struct{}{"/data": {}},
			ExposedPorts: map[string]struct{}{"8080/tcp": {}, "2525/tcp": {}},
			StopSignal:   "SIGTERM", Labels: r.labels(),
			// The specification of OCI has no health check. Docker reads it here.
			Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/gonebox", "ready"}, Interval: 10 * time.Second, Timeout: 6 * time.Second, StartPeriod: 30 * time.Second, Retries: 3},
		},
	})
	if err != nil {
		return nil, err
	}
	for _, layer := range []v1.Layer{base, program} {
		image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "make release"}})
		if err != nil {
			return nil, err
		}
	}
	return image, nil
}

// labels returns the labels of the image. The last one lets the registry of MCP servers find it.
func (r *release) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":         "Gonebox",
		"org.opencontainers.image.description":   description,
		"org.opencontainers.image.version":       r.version,
		"org.opencontainers.image.created":       r.date.Format(time.RFC3339),
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.url":           repository,
		"org.opencontainers.image.source":        repository,
		"org.opencontainers.image.documentation": repository + "/blob/v" + r.version + "/docs/operating.md",
		"io.modelcontextprotocol.server.name":    "io.github.gonebox/gonebox",
	}
}

// baseLayer returns the layer that is the same on every platform: the authorities that webhooks are checked against, which
// are those of a module rather than of the machine that builds, the licence, and the folder of the volume.
func (r *release) baseLayer() (v1.Layer, error) {
	var authorities bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue // a file of certificates cannot express it
		}
		if err := pem.Encode(&authorities, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	licence, err := r.source("LICENSE", 0o644, "LICENSE")
	if err != nil {
		return nil, err
	}
	return r.layer([]file{
		licence,
		{name: "data", mode: fs.ModeDir | 0o700, owner: unprivileged},
		{name: "etc", mode: fs.ModeDir | 0o755},
		{name: "etc/ssl", mode: fs.ModeDir | 0o755},
		{name: "etc/ssl/certs", mode: fs.ModeDir | 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, body: authorities.Bytes()},
	})
}

// layer returns a layer of files.
func (r *release) layer(files []file) (v1.Layer, error) {
	body, err := tarball(files, r.date)
	if err != nil {
		return nil, err
	}
	packed, err := compressed(body)
	if err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
	return registrytar.LayerFromOpener(opener, registrytar.WithMediaType(types.OCILayer))
}

// filesOf reads every file below a folder.
func filesOf(dir string) ([]file, error) {
	var all []file
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f := file{name: filepath.ToSlash(name), mode: 0o644}
		if e.IsDir() {
			f.mode = fs.ModeDir | 0o755
		} else if f.body, err = os.ReadFile(path); err != nil {
			return err
		}
		all = append(all, f)
		return nil
	})
	return all, err
}
