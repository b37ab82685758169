package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const mailWithCode = "From: a@b.example\r\nSubject: Your order 55512\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n" +
	"Your verification code is 482 913.\r\nTo confirm: https://b.example/verify?t=abc\r\n"

func mailFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mail.eml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOtpExplainPrintsCodeAndReasons(t *testing.T) {
	got := gonebox(t, "otp explain "+mailFile(t, mailWithCode))
	if got.code != exitOK || got.err != "" {
		t.Fatalf("got %+v", got)
	}
	lines := strings.Split(got.out, "\n")
	if !strings.HasPrefix(lines[0], "Code 482913 (numeric, confidence 0.") || !strings.HasSuffix(lines[0], ", shown as 482 913.") {
		t.Errorf("the first line is %q", lines[0])
	}
	var heading, chosen, lost bool
	for _, line := range lines {
		words := strings.Fields(line)
		heading = heading || strings.Join(words, " ") == "CANDIDATE WHERE SCORE REASONS"
		chosen = chosen || strings.HasPrefix(line, "*  482 913") && words[3] == "text" && strings.Contains(line, "“verification code”")
		lost = lost || strings.HasPrefix(line, "   55512") && words[1] == "subject" && strings.Contains(line, "“order”")
	}
	if !heading || !chosen || !lost || !strings.Contains(got.out, "\nLink https://b.example/verify?t=abc\n") {
		t.Errorf("heading %t, chosen %t, lost %t in\n%s", heading, chosen, lost, got.out)
	}
}

func TestOtpExplainReadsStandardInput(t *testing.T) {
	stdin(t, mailWithCode)
	got := gonebox(t, "otp explain - --json")
	var e explanation
	if err := json.Unmarshal([]byte(got.out), &e); err != nil || got.code != exitOK {
		t.Fatalf("%+v, %v", got, err)
	}
	if e.Code != "482913" || e.Display != "482 913" || e.Kind != "numeric" || e.Confidence <= 0 || len(e.Links) != 1 {
		t.Errorf("got %+v", e)
	}
	if len(e.Candidates) != 2 {
		t.Fatalf("candidates %+v", e.Candidates)
	}
	order, code := e.Candidates[0], e.Candidates[1]
	if order.Chosen || order.Value != "55512" || order.Where != "subject" || len(order.Reasons) == 0 {
		t.Errorf("the order number is %+v", order)
	}
	if !code.Chosen || code.Value != "482913" || code.Where != "text" || code.Score <= order.Score || len(code.Reasons) == 0 {
		t.Errorf("the code is %+v", code)
	}
}

func TestOtpExplainAcceptsMailWithoutCode(t *testing.T) {
	path := mailFile(t, "From: a@b.example\r\n\r\nSee you tomorrow.\r\n")
	if got := gonebox(t, "otp explain "+path); got != (outcome{exitOK, "No code.\nNo candidates.\n", ""}) {
		t.Errorf("got %+v", got)
	}
	got := gonebox(t, "otp explain --json "+path)
	if got.code != exitOK || !strings.Contains(got.out, `"links": []`) || !strings.Contains(got.out, `"candidates": []`) {
		t.Errorf("got %+v", got)
	}
}

func TestOtpExplainReportsUnreadableFiles(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.eml")
	for line, want := range map[string]string{
		"otp explain " + missing:         "read the mail from " + missing,
		"otp explain " + t.TempDir():     "is a directory",
		"otp explain " + mailFile(t, ""): "it is empty",
	} {
		gonebox(t, line).oneErrorLine(t, line, exitFailure, want)
	}
	stdin(t, "")
	gonebox(t, "otp explain -").oneErrorLine(t, "otp explain -", exitFailure, "from standard input: it is empty")
}
