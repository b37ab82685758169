//go:build race

package readme_test

const raceDetector = true
