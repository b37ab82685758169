// Command score prints how often the extractor is right on the labelled mails:
// precision, recall, F1 and false positives, for each half of the corpus and
// for those written apart, by class and by language. It changes nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/otp/otptest"
)

func main() {
	dir := flag.String("dir", "internal/otp/testdata/mail", "the labelled mails")
	counted := flag.String("counted", "internal/otp/testdata/second,internal/otp/testdata/third,internal/otp/testdata/fourth,internal/otp/testdata/fifth,internal/otp/testdata/sixth,internal/otp/testdata/seventh,internal/otp/testdata/eighth,internal/otp/testdata/ninth", "the corpora that are only counted, separated by commas")
	varied := flag.String("varied", "internal/otp/testdata/mail,internal/otp/testdata/ninth", "the corpora that are read with what senders put around")
	around := flag.String("around", "internal/otp/testdata/around", "what others wrote around mails")
	show := flag.Bool("faults", false, "list the mails of the working half that were not read right, and why")
	flag.Parse()
	err := run(*dir, *show)
	for dir := range strings.SplitSeq(*varied, ",") {
		if err == nil && dir != "" {
			err = vary(dir, *around)
		}
	}
	for dir := range strings.SplitSeq(*counted, ",") {
		if err == nil && dir != "" {
			err = count(dir)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
}

func run(dir string, show bool) error {
	cs, err := otptest.Read(os.DirFS(dir))
	if err != nil {
		return err
	}
	for _, half := range []otptest.Half{otptest.Work, otptest.Report} {
		s := otptest.Run(cs, half)
		if show && half == otptest.Work {
			explain(s.Faults)
		}
		if err := s.Print(os.Stdout, string(half)); err != nil {
			return err
		}
		fmt.Println()
	}
	return nil
}

// vary prints how a corpus is read with what senders put around their mails.
func vary(dir, around string) error {
	cs, err := otptest.Read(os.DirFS(dir))
	if err != nil {
		return err
	}
	pieces, err := otptest.ReadAround(os.DirFS(around))
	if err != nil {
		return err
	}
	if err := otptest.PrintVariations(os.Stdout, filepath.Base(dir), cs, "", pieces); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

// count prints the score of a whole corpus that was written apart from the
// extractor, without explaining its faults.
func count(dir string) error {
	cs, err := otptest.Read(os.DirFS(dir))
	if err != nil {
		return err
	}
	if err := otptest.Run(cs, "").Print(os.Stdout, filepath.Base(dir)); err != nil {
		return err
	}
	fmt.Println()
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
