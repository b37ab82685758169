package otp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// checkAction reports an action of a mail that is not the one wanted; want.URL is empty for none.
func checkAction(t *testing.T, m otp.Mail, want otp.Action) {
	t.Helper()
	var got otp.Action
	if a := otp.Extract(m).Action; a != nil {
		got = otp.Action{URL: a.URL, Kind: a.Kind}
	}
	if got != want {
		t.Errorf("Extract(%+v) has the action %+v, want %+v", m, got, want)
	}
}

// TestInvitationWithTwoButtons holds that of two buttons behind a tracker of clicks the one that
// the subject is about is the action, in a language of which no word is known too.
func TestInvitationWithTwoButtons(t *testing.T) {
	for _, c := range []struct{ subject, first, register, second, accept string }{
		{"Team invitation", "No account yet? Make one first, then accept the invitation:", "Create account", "Or accept the invitation now:", "Accept invitation"},
		{"Einladung ins Team", "Noch kein Konto? Legen Sie eines an, um die Einladung anzunehmen:", "Konto registrieren", "Sie haben schon eines? Nehmen Sie die Einladung an:", "Einladung annehmen"},
		{"Invitation à l'équipe", "Pas encore de compte ? Créez-le avant d'accepter l'invitation :", "Créer un compte", "Déjà inscrit ? Acceptez l'invitation :", "Accepter l'invitation"},
		{"Pozvánka do týmu", "Nemáte účet? Vytvořte si ho a pak pozvánku přijměte:", "Vytvořit účet", "Účet už máte? Přijměte pozvánku:", "Přijmout pozvánku"},
		{"Покана за екип", "Нямате профил? Създайте го и приемете поканата:", "Създаване на профил", "Вече имате? Приемете поканата:", "Приемане на поканата"},
		{"Topara çakylyk", "Hasabyňyz ýokmy? Dörediň we çakylygy kabul ediň:", "Hasap döretmek", "Eýýäm barmy? Çakylygy kabul ediň:", "Çakylygy kabul etmek"},
	} {
		for _, order := range []string{"%[1]s%[2]s", "%[2]s%[1]s"} {
			one := fmt.Sprintf(`<p>%s</p><p><a href="https://u81.mail.example/ss/c/aa11">%s</a></p>`, c.first, c.register)
			two := fmt.Sprintf(`<p>%s</p><p><a href="https://u81.mail.example/ss/c/bb22">%s</a></p>`, c.second, c.accept)
			checkAction(t, otp.Mail{Subject: c.subject, HTML: fmt.Sprintf(order, one, two)}, otp.Action{URL: "https://u81.mail.example/ss/c/bb22", Kind: otp.Invite})
		}
	}
	m := otp.Mail{Subject: "Invitation: blorvanex", HTML: `<p>Zim nolat dor.</p><p><a href="https://u81.mail.example/ss/c/aa11">Sign in</a></p><p>Zim.</p><p><a href="https://u81.mail.example/ss/c/bb22">Sign in to blorvane</a></p>`}
	checkAction(t, m, otp.Action{URL: "https://u81.mail.example/ss/c/bb22", Kind: otp.Invite})
}

// TestAccountIsNoOffer holds that an account or an address is confirmed, although a number beside
// its word belongs to it, and that an order is not.
func TestAccountIsNoOffer(t *testing.T) {
	for _, c := range []struct{ subject, text, button string }{
		{"Instrucciones de confirmación", "Puede confirmar su cuenta con este enlace:", "Confirmar mi cuenta"},
		{"Anleitung zur Konto-Bestätigung", "Mit diesem Link bestätigen Sie Ihr Konto:", "Mein Konto bestätigen"},
		{"Instrukcja aktywacji konta", "Możesz potwierdzić swoje konto tym linkiem:", "Potwierdź swoje konto"},
		{"Οδηγίες επιβεβαίωσης", "Επιβεβαιώστε τον λογαριασμό σας με αυτόν τον σύνδεσμο:", "Επιβεβαίωση του λογαριασμού μου"},
		{"Verifiera din e-post", "Verifiera din e-post här:", "Verifiera e-post"},
		{"Arahan pengesahan", "Sahkan akaun anda melalui pautan ini:", "Sahkan akaun saya"},
		{"Activación de cuenta", "Pulse el botón para empezar.", "Activar cuenta"},
		{"Ativação de conta", "Clique no botão para começar.", "Ativar conta"},
		{"Активація облікового запису", "Натисніть кнопку, щоб почати.", "Активуйте обліковий запис"},
		{"Attivazione del conto", "Premi il pulsante per iniziare.", "Attiva il conto"},
		{"Bekreftelse av konto", "Bekreft kontoen din her:", "Bekreft min konto"},
	} {
		m := otp.Mail{Subject: c.subject, HTML: fmt.Sprintf(`<p>%s</p><p><a href="https://u81.mail.example/ss/c/aa11">%s</a></p>`, c.text, c.button)}
		checkAction(t, m, otp.Action{URL: "https://u81.mail.example/ss/c/aa11", Kind: otp.Verify})
	}
	for _, c := range []struct{ subject, button string }{
		{"Please confirm your order", "Confirm order 4821"},
		{"Bitte bestätigen Sie Ihre Bestellung", "Bestellung bestätigen"},
	} {
		checkAction(t, otp.Mail{Subject: c.subject, HTML: fmt.Sprintf(`<p>Hello.</p><p><a href="https://acme.example/o/4821">%s</a></p>`, c.button)}, otp.Action{})
	}
}

// TestAddressInSentence holds that the words on both sides of an address that is written out say what
// it is for, in a mail whose subject but greets.
func TestAddressInSentence(t *testing.T) {
	const url = "https://u81.mail.example/ss/c/aa11"
	for _, c := range []struct {
		text string
		kind otp.ActionKind
	}{
		{"请访问 %s 以重置您的密码。", otp.Reset},
		{"Aktivoidaksesi tunnuksesi klikkaa %s", otp.Verify},
		{"Per terminare la validazione e la conferma del tuo account visita %s", otp.Verify},
		{"U moet uw account nog valideren, ga naar %s", otp.Verify},
		{"Для завершення реєстрації перейдіть за посиланням %s", otp.Verify},
		{"Pre dokončenie registrácie kliknite na odkaz: %s", otp.Verify},
		{"Visit %s to reset your password.", otp.Reset},
	} {
		checkAction(t, otp.Mail{Subject: "Ana", Text: "Ana!\n\n" + fmt.Sprintf(c.text, url) + "\n\nAcme\n"}, otp.Action{URL: url, Kind: c.kind})
	}
}

// TestInvitationByAddressAlone holds that an address alone on its line, in brackets too, is the one by
// which one accepts an invitation of the subject, but for an invitation to an event.
func TestInvitationByAddressAlone(t *testing.T) {
	const url = "https://acme.example/i/8f2c19"
	for _, subject := range []string{"Bo invited you to Acme", "Bo hat dich zu Acme eingeladen", "Bo te ha invitado a Acme", "Bo vous a invité sur Acme"} {
		for _, text := range []string{"Hello!\n\nFollow the link:\n\n[%s]\n\nSee you soon.\n", "Hello!\n\n%s\n\nSee you soon.\n", "Hello!\n\n<%s>\n"} {
			checkAction(t, otp.Mail{Subject: subject, Text: fmt.Sprintf(text, url)}, otp.Action{URL: url, Kind: otp.Invite})
		}
	}
	checkAction(t, otp.Mail{Subject: "Join our webinar on gardens", Text: "Hello!\n\n" + url + "\n"}, otp.Action{})
}

// TestInvitationIsAccepted holds that the link of an invitation is one, whatever one does there to accept.
func TestInvitationIsAccepted(t *testing.T) {
	for _, c := range []struct{ subject, button string }{
		{"Bo invited you to Acme", "Sign in to Acme"},
		{"You are invited to Acme", "Set your password"},
		{"Bo convidou você para o Acme", "Entrar na organização"},
	} {
		m := otp.Mail{Subject: c.subject, HTML: fmt.Sprintf(`<p>Hello.</p><p><a href="https://u81.mail.example/ss/c/aa11">%s</a></p>`, c.button)}
		checkAction(t, m, otp.Action{URL: "https://u81.mail.example/ss/c/aa11", Kind: otp.Invite})
	}
}

// TestNoticeHasNoAction holds that links of which nothing says what they are for are no actions,
// although their words occur in mails about signing in.
func TestNoticeHasNoAction(t *testing.T) {
	for _, html := range []string{
		`<p>Three of five steps are done.</p><p><a href="%s">Get in touch</a></p>`,
		`<p>Your account has been quiet. If you have questions, please <a href="%s">contact support</a>.</p>`,
		`<p>Bo wrote to you.</p><p>If you no longer want such mails, <a href="%s">click here</a> to change your settings.</p>`,
		`<p>Bo partage avec vous !</p><p>Ce courriel a été envoyé par Acme. Pour changer vos paramètres, <a href="%s">cliquez ici</a>.</p>`,
		`<p>Bo sizinle paylaştı.</p><p>Bildirim ayarlarınızı değiştirmek için <a href="%s">buraya tıklayın</a>.</p>`,
		`<p>Your week.</p><p><a href="%s">View activity</a></p>`,
	} {
		m := otp.Mail{Subject: "News of Acme", HTML: strings.ReplaceAll(html, "%s", "https://u81.mail.example/ss/c/aa11")}
		checkAction(t, m, otp.Action{})
	}
}

// TestWordsOfResettingAndUnlocking holds the kind of links in languages that use a word for cancelling
// to reset or to unlock, or of which the words for links alone know the verb.
func TestWordsOfResettingAndUnlocking(t *testing.T) {
	for _, c := range []struct {
		subject, button string
		kind            otp.ActionKind
	}{
		{"הוראות להסרת נעילה", "בטל נעילת חשבון", otp.Unlock},
		{"Poništavanje lozinke", "Poništavanje lozinke", otp.Reset},
		{"Resetați parola", "Schimbați parola", otp.Reset},
		{"Ohjeet lukituksen poistoon", "Poista tunnukseni lukitus", otp.Unlock},
		{"Gjenåpning av konto", "Gjenåpne kontoen", otp.Unlock},
		{"Tukar kata laluan", "Tukar kata laluan saya", otp.Reset},
	} {
		m := otp.Mail{Subject: c.subject, HTML: fmt.Sprintf(`<p><a href="https://u81.mail.example/ss/c/aa11">%s</a></p>`, c.button)}
		checkAction(t, m, otp.Action{URL: "https://u81.mail.example/ss/c/aa11", Kind: c.kind})
	}
}

// TestAddressBelowParagraph holds that the last sentence above an address alone says what it is for,
// and an earlier one that it may be ignored does not matter.
func TestAddressBelowParagraph(t *testing.T) {
	const url = "https://u81.mail.example/ss/c/aa11"
	for _, c := range []struct {
		text string
		kind otp.ActionKind
	}{
		{"Ignore this mail if you have not requested a reset. Click the link below to choose a new password.", otp.Reset},
		{"Wenn Sie das nicht angefordert haben, ignorieren Sie diese Mail. Klicken Sie auf den Link, um Ihr Passwort zurückzusetzen.", otp.Reset},
		{"Ignorez ce message si vous n'avez rien demandé. Cliquez sur le lien pour réinitialiser votre mot de passe.", otp.Reset},
		{"Please verify your address with the link below.", otp.Verify},
	} {
		checkAction(t, otp.Mail{Subject: "Acme", Text: "Hello!\n\n" + c.text + "\n\n" + url + "\n\nAcme\n"}, otp.Action{URL: url, Kind: c.kind})
	}
	const site = "https://u81.mail.example/ss/c/bb22"
	m := otp.Mail{Subject: "Invitation", Text: "Bo has invited you to " + site + ", you can accept the invitation through the link below.\n\n" + url + "\n"}
	checkAction(t, m, otp.Action{URL: url, Kind: otp.Invite})
	for _, text := range []string{"Your password has been changed.\n\n" + url + "\n", "Your address is confirmed.\n\nAcme\n" + url + "\n"} {
		checkAction(t, otp.Mail{Subject: "E-mail confirmation", Text: text}, otp.Action{})
	}
}

// TestAccept holds that a button to accept is the one of an invitation beside one to decline.
func TestAccept(t *testing.T) {
	for _, c := range []struct{ subject, accept, decline string }{
		{"Du wurdest zu Acme eingeladen", "Akzeptieren", "Ablehnen"},
		{"Te han invitado a Acme", "Aceptar", "Rechazar"},
		{"Sei stato invitato su Acme", "Accetta", "Rifiuta"},
		{"Acmeに招待されています", "承諾", "辞退"},
		{"Je bent uitgenodigd voor Acme", "Accepteren", "Weigeren"},
		{"Join Acme", "Join Acme now", "Decline"},
		{"Zaproszenie do Acme", "Zaakceptuj", "Odrzuć"},
	} {
		m := otp.Mail{Subject: c.subject, HTML: fmt.Sprintf(`<p>Acme</p><a href="https://u81.mail.example/ss/c/aa11">%s</a> <a href="https://u81.mail.example/ss/c/bb22">%s</a>`, c.accept, c.decline)}
		checkAction(t, m, otp.Action{URL: "https://u81.mail.example/ss/c/aa11", Kind: otp.Invite})
	}
}

// TestPasswordIsSet holds that the link by which one signs in with a new password is no action.
func TestPasswordIsSet(t *testing.T) {
	for _, c := range []struct{ subject, button string }{
		{"Password reset successful", "Sign in"},
		{"Passwort erfolgreich zurückgesetzt", "Anmelden"},
		{"Réinitialisation du mot de passe réussie", "Se connecter"},
		{"Restablecimiento de contraseña completado", "Iniciar sesión"},
	} {
		m := otp.Mail{Subject: c.subject, HTML: fmt.Sprintf(`<p>Hello.</p><a href="https://acme.example/signin">%s</a>`, c.button)}
		checkAction(t, m, otp.Action{})
	}
}

// TestWordsOfOtherForms holds that an imperative or a noun is not the participle that reports what has
// happened, nor a word of another meaning that begins alike.
func TestWordsOfOtherForms(t *testing.T) {
	const url = "https://u81.mail.example/ss/c/aa11"
	for _, c := range []struct {
		subject, text string
		kind          otp.ActionKind
	}{
		{"Vérifier votre adresse", "Pour vérifier l'adresse, cliquez sur le lien ci-dessous.", otp.Verify},
		{"Activer votre compte", "Suivez ce lien pour activer votre compte.", otp.Verify},
		{"Ověření adresy", "Pro ověření adresy klikněte na odkaz níže.", otp.Verify},
		{"Overenie adresy", "Na overenie adresy kliknite na odkaz nižšie.", otp.Verify},
	} {
		checkAction(t, otp.Mail{Subject: c.subject, Text: "Ana,\n\n" + c.text + "\n\n" + url + "\n\nAcme\n"}, otp.Action{URL: url, Kind: c.kind})
	}
	for _, c := range []struct{ subject, html string }{
		{"Atividade no Acme", `<p>Pode mudar a frequência nas <a href="%s">definições</a>.</p>`},
		{"Attività su Acme", `<p><a href="%s">Vedi le attività</a></p>`},
		{"Aktywność w Acme", `<p><a href="%s">Zobacz aktywność</a></p>`},
		{"События в Acme", `<p>Вы можете отключить эти письма в <a href="%s">настройках</a>.</p>`},
		{"Отговор от Бо", `<p>Съгласен съм.</p><p><a href="%s">входящи</a></p>`},
		{"Bo has applied to join Acme", `<p><a href="%s">Applications</a></p>`},
		{"Bo a demandé à rejoindre Acme", `<p><a href="%s">Voir</a></p>`},
	} {
		checkAction(t, otp.Mail{Subject: c.subject, HTML: fmt.Sprintf(c.html, url)}, otp.Action{})
	}
}
