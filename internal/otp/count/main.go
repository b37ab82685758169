// Command count prints how often the extractor is right on the labelled mails:
// precision, recall, F1 and false positives, by class and by language. It shows
// the faults of the corpus on request and only counts the held-out and the fresh mails.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

func main() {
	dir := flag.String("testdata", "internal/otp/testdata", "folder of the labelled mails")
	show := flag.Bool("faults", false, "list the mails of the corpus that are read wrong, and why")
	varied := flag.Bool("varied", false, "also read the mails with what senders put around them")
	flag.Parse()
	if err := run(*dir, *show, *varied); err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
}

func run(dir string, show, varied bool) error {
	around, err := os.ReadFile(filepath.Join(dir, "around.txt"))
	if err != nil {
		return err
	}
	pieces, err := otptest.ParseAround(string(around))
	if err != nil {
		return err
	}
	for _, folder := range []string{"corpus", "heldout", "fresh", "ordinary"} {
		cs, err := otptest.Read(os.DirFS(dir), folder)
		if err != nil {
			return err
		}
		s := otptest.Run(cs)
		if show && folder != "heldout" && folder != "fresh" {
			explain(s.Faults)
		}
		if err := s.Print(os.Stdout, folder); err != nil {
			return err
		}
		fmt.Println()
		if !varied {
			continue
		}
		if err := otptest.PrintVariations(os.Stdout, folder, cs, pieces); err != nil {
			return err
		}
		fmt.Println()
	}
	return nil
}

// explain prints the candidates of the mails that went wrong.
func explain(faults []otptest.Fault) {
	for _, f := range faults {
		fmt.Printf("%s %s: want %q, got %q: %s\n", f.Case.Name, f.Case.Class, f.Case.Want, f.Got, f.Case.Mail.Subject)
		for _, c := range otp.Explain(f.Case.Mail).Candidates {
			fmt.Printf("    %-14s %-9s %6.2f %q\n", c.Display, c.Where, c.Score, c.Reasons)
		}
	}
	fmt.Println()
}
