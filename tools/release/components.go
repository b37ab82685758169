package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// components writes the list of what the program consists of, as CycloneDX JSON: the modules that the Go tool recorded in
// the binaries, the standard library, and the packages of npm that the pages are built from.
func (r *release) components(context.Context) error {
	self := "pkg:golang/github.com/gonebox/gonebox@v" + r.version
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.date.Format(time.RFC3339),
		Component: &cdx.Component{
			Type: cdx.ComponentTypeApplication, BOMRef: self, Name: "gonebox", Version: r.version, PackageURL: self, Description: description,
			Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		},
	}
	found := make(map[string]cdx.Component)
	for _, p := range r.platforms {
		if err := modulesOf(r.binaries[p], found); err != nil {
			return err
		}
	}
	if err := r.pagesOf(found); err != nil {
		return err
	}
	var all []cdx.Component
	var names []string
	for _, c := range found {
		all = append(all, c)
		names = append(names, c.BOMRef)
	}
	slices.SortFunc(all, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	slices.Sort(names)
	bom.Components = &all
	bom.Dependencies = &[]cdx.Dependency{{Ref: self, Dependencies: &names}}
	digest := sha256.Sum256([]byte(self + strings.Join(names, "\n")))
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, digest[:]).URN()
	var text bytes.Buffer
	encoder := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON)
	if err := encoder.SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return err
	}
	return r.write("gonebox_"+r.version+"_sbom.cdx.json", text.Bytes())
}

// modulesOf adds the modules of a binary, and the standard library, to found by their references.
func modulesOf(binary []byte, found map[string]cdx.Component) error {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	add := func(name, version, sum string) {
		url := "pkg:golang/" + name + "@" + version
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: name, Version: version, PackageURL: url}
		if hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && len(hash) == sha256.Size {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(hash)}}
		}
		found[url] = c
	}
	add("std", strings.TrimPrefix(info.GoVersion, "go"), "")
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		add(m.Path, m.Version, m.Sum)
	}
	return nil
}

// inPages are the packages of npm of which parts are in the built pages.
var inPages = []string{"svelte", "openapi-fetch", "uqr", "swagger-ui-dist"}

// pagesOf adds the packages of npm in the built pages.
func (r *release) pagesOf(found map[string]cdx.Component) error {
	text, err := os.ReadFile(filepath.Join(r.root, "web/package-lock.json"))
	if err != nil {
		return err
	}
	var lock struct {
		Packages map[string]struct{ Version, License string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return err
	}
	for _, name := range inPages {
		p, ok := lock.Packages["node_modules/"+name]
		if !ok {
			return fmt.Errorf("web/package-lock.json has no %s", name)
		}
		url := "pkg:npm/" + name + "@" + p.Version
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: name, Version: p.Version, PackageURL: url}
		if p.License != "" {
			c.Licenses = &cdx.Licenses{{Expression: p.License}}
		}
		found[url] = c
	}
	return nil
}
