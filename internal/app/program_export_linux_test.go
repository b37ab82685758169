package app

import "strings"

// UnmapProgram is unmapProgram.
func UnmapProgram() error { return unmapProgram() }

// ProgramMappings returns what programMappings does for a text, as pairs of addresses.
func ProgramMappings(maps, path string) (all [][2]uintptr) {
	for _, m := range programMappings(strings.NewReader(maps), path) {
		all = append(all, [2]uintptr{m.start, m.end})
	}
	return all
}
