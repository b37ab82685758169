package main

import (
	"io"

	"github.com/gonebox/gonebox/internal/licences"
)

type licencesCmd struct{}

// Run prints the licences of all dependencies compiled into the program.
func (*licencesCmd) Run(c *console) error {
	_, err := io.WriteString(c.out, licences.Text())
	return err
}
