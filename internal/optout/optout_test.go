package optout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/optout"
)

func TestLabel(t *testing.T) {
	for _, label := range []string{
		"Unsubscribe", "UNSUBSCRIBE HERE", "Click here to unsubscribe.", "  un\u00adsubscribe ", "Manage\n preferences", "Email Preferences", "View in browser", "View this email in your browser",
		"Having trouble viewing this?", "If you don’t want to receive these e-mails", "Opt\u2011out", "Newsletter abbestellen", "Hier abmelden", "Im Browser ansehen", "Se désabonner", "Gérer mes préférences",
		"Dejar de recibir", "退订", "点此退订本邮件", "こちらから配信停止", "수신거부", "ยกเลิกการสมัคร", "إلغاء الاشتراك", "Отписаться от рассылки", "Открыть в браузере", "Hủy đăng ký",
		"Abonelikten çık", "Annulla l’iscrizione", "Αλλαγή: προτιμήσεις",
	} {
		if !optout.Label(label) {
			t.Errorf("Label(%q) = false, want true", label)
		}
	}
	for _, label := range []string{
		"", "Confirm your address", "Sign in", "Reset password", "Accept invitation", "Resubscribe now", "Confirm your subscription", "Manage your account", "View order", "Download",
		"Jetzt anmelden", "Bestätigen", "Se connecter", "Confirmer mon inscription", "确认邮箱", "メールアドレスを確認", "로그인", "Подтвердить", "Подписаться", "Xác nhận", "Cadastrar", "Iscriviti",
	} {
		if optout.Label(label) {
			t.Errorf("Label(%q) = true, want false", label)
		}
	}
}

func TestSentence(t *testing.T) {
	for _, text := range []string{"To unsubscribe, visit", "Zum Abmelden:", "Pour vous désinscrire, cliquez"} {
		if !optout.Sentence(text) {
			t.Errorf("Sentence(%q) = false, want true", text)
		}
	}
	for _, text := range []string{"", "Confirm your address:", "Paste this into your browser:", "Öffnen Sie diesen Link im Browser:", "Copiez ce lien dans votre navigateur :", "Скопируйте эту ссылку в браузере:"} {
		if optout.Sentence(text) {
			t.Errorf("Sentence(%q) = true, want false", text)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, address := range []string{
		"https://acme.example/unsubscribe", "https://acme.example/u?action=Unsubscribe&t=1", "https://unsubscribe.acme.example/x", "https://acme.example/list/unsub/5k", "https://acme.example/unsub",
		"https://acme.example/email-preferences?t=1", "https://acme.example/account/preferences", "https://acme.example/view-in-browser/1", "https://acme.example/newsletter/abmelden",
		"https://acme.example/optout?token=1", "https://acme.example/d%C3%A9sabonnement/desabonnement",
	} {
		if !optout.Address(address) {
			t.Errorf("Address(%q) = false, want true", address)
		}
	}
	for _, address := range []string{
		"https://acme.example/", "https://acme.example/verify?t=1", "https://acme.example/verify?next=/preferences", "https://acme.example/subscribe/confirm?t=1", "https://acme.example/browser",
		"https://acme.example/sunsub-1", "https://acme.example/reset#top", "http://[::1", "%",
	} {
		if optout.Address(address) {
			t.Errorf("Address(%q) = true, want false", address)
		}
	}
}

// TestEveryLanguageHasPhrases compares the languages with those that codes are found in.
func TestEveryLanguageHasPhrases(t *testing.T) {
	text, err := os.ReadFile("phrases.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if tag, list, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !strings.HasPrefix(line, "#") {
			known[tag] = list
		}
	}
	files, err := filepath.Glob("../otp/lexicon/*.txt")
	if err != nil || len(files) < 100 {
		t.Fatalf("Glob gives %d lexicons, %v; want more than 100", len(files), err)
	}
	for _, file := range files {
		tag := strings.TrimSuffix(filepath.Base(file), ".txt")
		if tag != "und" && (!strings.Contains(known[tag], "|") || known["+"+tag] == "") {
			t.Errorf("phrases.txt has %q and %q for %s, want at least two phrases and one", known[tag], known["+"+tag], tag)
		}
	}
	for tag, list := range known {
		for phrase := range strings.SplitSeq(list, "|") {
			if !optout.Label(strings.TrimSpace(phrase)) {
				t.Errorf("Label(%q) = false, want true as for a phrase of %s", strings.TrimSpace(phrase), tag)
			}
		}
	}
}

func BenchmarkLabel(b *testing.B) {
	for b.Loop() {
		optout.Label("Confirm your e-mail address now")
	}
}
