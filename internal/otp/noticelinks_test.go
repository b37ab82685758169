package otp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

const (
	noticeLink  = "https://u81.mail.example/ss/c/aa11"
	noticeOther = "https://u81.mail.example/ss/c/bb22"
)

// TestNoticesAskForNothing holds that a mail has no action whose words only touch upon accounts, security,
// passwords or invitations, or which reports what has been done.
func TestNoticesAskForNothing(t *testing.T) {
	for _, c := range []struct{ name, subject, html string }{
		{"an account, but nothing to do with it", "[Acme] Security notice", `<p>Your address was added.<br><a href="%s">My account</a></p>`},
		{"a project that was secured", "[Acme] News: Release 2", `<h1><a href="%s">Release 2</a></h1><p>It is more secure.</p>`},
		{"closing it", "Your Acme account may be suspended", `<p>If you no longer want it, <a href="%s">close your account</a>.</p>`},
		{"German", "[Acme] Sicherheitshinweis", `<p>Ihre Adresse wurde hinzugefügt.<br><a href="%s">Mein Konto</a></p>`},
		{"French", "[Acme] Notification de sécurité", `<p>Votre adresse a été ajoutée.<br><a href="%s">Mon compte</a></p>`},
		{"a password that was changed", "[Acme] Security notice", `<p>Your password has been changed.<br><a href="%s">Change password</a></p>`},
		{"the same in German", "[Acme] Sicherheitshinweis", `<p>Ihr Passwort wurde geändert.<br><a href="%s">Passwort ändern</a></p>`},
		{"the same in Spanish", "[Acme] Aviso de seguridad", `<p>Su contraseña ha sido cambiada.<br><a href="%s">Cambiar contraseña</a></p>`},
		{"the same in Dutch", "[Acme] Beveiligingsmelding", `<p>Uw wachtwoord is gewijzigd.<br><a href="%s">Wachtwoord wijzigen</a></p>`},
		{"the same in Bulgarian", "[Acme] Известие", `<p>Паролата ви беше променена.<br><a href="%s">Смяна на паролата</a></p>`},
		{"the same in Chinese", "[Acme] 安全通知", `<p>您的密码已更改。<br><a href="%s">修改密码</a></p>`},
		{"a subject that reports it", "Dit kodeord er nu ændret", `<p>Hej Bo</p><p>Dit kodeord er nu ændret.</p><p><a href="%s">Klik her for at besøge forummet</a></p>`},
		{"details to look at", "Faktura 4821", `<p>Detayları görmek ve hesabınıza giriş yapmak için: <a href="%s">Fatura 4821</a></p>`},
		{"details of an invoice", "Invoice 4821 was created", `<p>You can see the details, sign in and pay by this link: <a href="%s">4821</a>.</p>`},
		{"the name of an invited person", "Ann was invited to the Pine team", `<p><a href="%s">Ann</a> was invited to join the team “Pine”. Bo invited her.</p>`},
		{"an invitation that was withdrawn", "The invitation of Ann was canceled", `<p>The invitation for <a href="%s">Ann</a> to join the team has been canceled.</p>`},
		{"a receipt is a confirmation in Polish", "Płatność przyjęta", `<p>Dziękujemy za wpłatę.</p><p><a href="%s">Wyświetl potwierdzenie</a></p>`},
		{"an accepted invoice", "Din faktura er blevet accepteret", `<p>Din faktura er blevet accepteret.</p><p><a href="%s">Se hele fakturaen</a></p>`},
		{"recovery codes", "Make recovery codes for your account", `<p>Recovery codes let you in without your phone. Make them here: <a href="%s">recovery codes</a></p>`},
		{"an account that one may make", "News from Acme", `<p>You can do more with an account.</p><p><a href="%s">Sign up</a></p>`},
		{"an invitation that was accepted, in Danish", "Anna har accepteret din invitation", `<p>Anna har accepteret din invitation.</p><p><a href="%s">Se online</a></p>`},
		{"the same in Serbian", "Ana je prihvatila vašu pozivnicu", `<p>Ana je prihvatila vašu pozivnicu.</p><p><a href="%s">Vidi online</a></p>`},
		{"what to do about what has happened", "A new API key was created", `<p>A new key was created.</p><ol><li>If you suspect that somebody else did it:<ul><li><a href="%s">Change your password</a></li></ul></li></ol>`},
		{"the second of a list", "A new key was created", `<p>A new key was created.</p><p>If this was unexpected:</p><ul><li><a href="https://acme.example/keys">See your keys</a></li><li><a href="%s">Reset your password</a></li></ul>`},
		{"what was accepted", "Your proposals", `<p>Hello,</p><p>Once you have accepted proposals, make your schedule here: <a href="%s">https://acme.example/schedule</a></p>`},
		{"the same in Chinese", "您的提案", `<p>接受提案后，请在此处创建日程：<a href="%s">https://acme.example/schedule</a></p>`},
		{"who has joined", "Bo 加入了 Pine", `<p>Bo 加入了 Pine。</p><p><a href="%s">设置</a></p>`},
		{"what was switched off", "認証アプリを無効にしました", `<p>認証アプリを無効にしました。</p><p><a href="%s">設定</a></p>`},
		{"a proposal is no sign-in in Czech", "Vaše přihláška: Stromy", `<p>Svou přihlášku najdete zde: <a href="%s">https://acme.example/talks</a></p>`},
		{"a community that one may join too", "Welcome to Acme", `<p>Your farm is now part of Acme.</p><p>There is more to it: <a href="%s">Join our community</a></p>`},
		{"the same in Spanish", "Bienvenido a Acme", `<p>Su granja ya es parte de Acme.</p><p>Y hay más: <a href="%s">Únete a la comunidad</a></p>`},
		{"a social network behind a tracker", "Bo hat Sie zu Pine eingeladen", `<p>Bo hat Sie eingeladen, Pine zu verwalten. Sie bekommen noch eine Mail.</p><h5>Folgen Sie uns, um eingeladen zu werden</h5><p><a href="%s">Facebook</a></p>`},
		{"a failed sign-in", "Failed sign-in attempt detected", `<p>If this was you, try again. You may sign in to the <a href="%s">web app</a> as before.</p>`},
		{"a word within a sentence", "Your registration", `<p>After reading your <a href="%s">application</a> we decided not to go on with the activation of your account.</p>`},
		{"a place to sign in at", "Access for Bo", `<p>You may now sign in to the <a href="%s">web vault</a> and look around.</p>`},
		{"a front page behind a tracker", "A test of our mails", `<p>This mail verifies that mails from <a href="%s">https://acme.example</a> arrive.</p>`},
		{"a logo above a notice", "Password change notice", `<p><a href="%s">The Pine Forest</a></p><p>The word that opens your account is another one now.</p>`},
		{"a picture below the text", "Login verification code", `<p>Your login verification code is 482913.</p><p><a href="%s"><img src="https://i.example/g.png" width="30"></a></p>`},
		{"Dutch \"over\" is the beginning of Czech for verifying", "Anna heeft gereageerd op een opmerking", `<p>Anna heeft gereageerd op een opmerking waar u om vroeg.</p><p>Lees hier meer over deze opmerking: <a href="%s">de opmerking</a></p>`},
		{"Turkish \"oku\" is an Igbo invitation", "Haftalık özet", `<p>Bu hafta en çok okunan konular:</p><p><a href="%s">Daha fazla oku</a></p>`},
		{"Greek has links and sign-ins alike", "Η πληρωμή απέτυχε", `<p>Πατήστε στον σύνδεσμο για να πληρώσετε: <a href="%s">πληρωμή</a></p>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkAction(t, otp.Mail{From: "no-reply@acme.example", Subject: c.subject, HTML: fmt.Sprintf(c.html, noticeLink)}, otp.Action{})
		})
	}
}

// TestAddressOfSettings holds that an address behind words about the settings of mails is no action, though
// it is the only one.
func TestAddressOfSettings(t *testing.T) {
	for _, c := range []struct{ subject, settings string }{
		{"Bo joined Acme!", "Change your email settings"},
		{"Bo se ha unido a Acme", "Cambia la configuración de correo"},
		{"Bo присоединился к Acme!", "Изменить настройки почты"},
		{"Your password hint", "Acme on the web"},
	} {
		m := otp.Mail{From: "no-reply@acme.example", Subject: c.subject, Text: "Acme\n\nBo.\n\n" + c.settings + ": " + noticeLink + "\n"}
		checkAction(t, m, otp.Action{})
	}
}

// TestChoice holds that a link to accept or decline an invitation is the action, beside a link that only names the
// person who sent it.
func TestChoice(t *testing.T) {
	for _, c := range []struct{ subject, invited, choose, here, rest string }{
		{"Bo invited you to join Pine", `<a href="%s">Bo</a> has invited you to join the team Pine.`, "To go on, open", "this link", "to accept or decline the invitation."},
		{"Bo invited you to join Pine", `Bo has invited you to join the team <a href="%s">Pine</a>.`, "If you like,", "follow this link to accept or reject this invitation", "."},
		{"Bo hat Sie zu Pine eingeladen", `<a href="%s">Bo</a> hat Sie in das Team Pine eingeladen.`, "Über", "diesen Link", "können Sie die Einladung annehmen oder ablehnen."},
		{"Bo vous invite à rejoindre Pine", `<a href="%s">Bo</a> vous invite à rejoindre l'équipe Pine.`, "Suivez", "ce lien", "pour accepter ou refuser l'invitation."},
		{"Bo te ha invitado a Pine", `<a href="%s">Bo</a> te ha invitado al equipo Pine.`, "Usa", "este enlace", "para aceptar o rechazar la invitación."},
		{"Bo приглашает вас в Pine", `<a href="%s">Bo</a> приглашает вас в команду Pine.`, "Перейдите", "по ссылке", "чтобы принять или отклонить приглашение."},
		{"Bo 邀请您加入 Pine", `<a href="%s">Bo</a> 邀请您加入团队 Pine。`, "点击", "此链接", "接受或拒绝邀请。"},
	} {
		html := fmt.Sprintf(`<p>`+c.invited+`</p><p>%s <a href="%s">%s</a> %s</p>`, noticeOther, c.choose, noticeLink, c.here, c.rest)
		checkAction(t, otp.Mail{Subject: c.subject, HTML: html}, otp.Action{URL: noticeLink, Kind: otp.Invite})
	}
	for _, sentence := range []string{"To accept or decline the invitation, open this page:", "Um die Einladung anzunehmen oder abzulehnen:", "Pour accepter ou refuser l'invitation :", "要接受或拒绝邀请："} {
		checkAction(t, otp.Mail{Subject: "Pine", Text: "Bo\n\n" + sentence + "\n" + noticeLink + "\n"}, otp.Action{URL: noticeLink, Kind: otp.Invite})
	}
	refuse := otp.Mail{Subject: "Bo invited you to join Pine", Text: "To decline the invitation:\n" + noticeLink + "\n"}
	checkAction(t, refuse, otp.Action{})
}

// TestWordsThatAskToOpen holds that words which ask to open a link are said of it, wherever they stand, and
// whatever the subject is.
func TestWordsThatAskToOpen(t *testing.T) {
	for _, c := range []struct {
		text string
		kind otp.ActionKind
	}{
		{"Click <here> to confirm your address.", otp.Verify},
		{"To choose a new password, click <here>.", otp.Reset},
		{"Klicken Sie <hier>, um Ihre Adresse zu bestätigen.", otp.Verify},
		{"Pour choisir un nouveau mot de passe, cliquez <ici>.", otp.Reset},
		{"Haz clic <aquí> para confirmar tu correo.", otp.Verify},
		{"Clicca <qui> per confermare il tuo indirizzo.", otp.Verify},
		{"Kliknij <tutaj>, aby potwierdzić adres.", otp.Verify},
		{"Нажмите <здесь>, чтобы подтвердить адрес.", otp.Verify},
		{"Adresinizi doğrulamak için <buraya> tıklayın.", otp.Verify},
		{"Để xác minh địa chỉ, hãy nhấp vào <đây>.", otp.Verify},
		{"请点击<此处>验证您的邮箱。", otp.Verify},
		{"メールアドレスを確認するには<こちら>をクリックしてください。", otp.Verify},
		{"<여기>를 클릭하여 이메일을 인증하세요.", otp.Verify},
		{"انقر <هنا> لتأكيد بريدك.", otp.Verify},
	} {
		html := strings.NewReplacer("<", `<a href="`+noticeLink+`">`, ">", "</a>").Replace(c.text)
		checkAction(t, otp.Mail{Subject: "Pine", HTML: "<p>" + html + "</p>"}, otp.Action{URL: noticeLink, Kind: c.kind})
	}
	reported := otp.Mail{Subject: "Your password was reset", HTML: `<p>Your password was reset by an administrator. Press the button to choose a new one.</p><p><a href="` + noticeLink + `">Choose a password</a></p>`}
	checkAction(t, reported, otp.Action{URL: noticeLink, Kind: otp.Reset})
}

// TestShownAddress holds that an address which a link is written on says what it is for, where a tracker of
// clicks hides the other.
func TestShownAddress(t *testing.T) {
	for _, c := range []struct {
		shown string
		kind  otp.ActionKind
	}{
		{"https://acme.example/user/bo/confirm?token=9f8e7d6c", otp.Verify},
		{"https://acme.example/account/lost_password?token=9f8e7d6c", otp.Reset},
		{"https://acme.example/reset/9f8e7d6c", otp.Reset},
	} {
		html := fmt.Sprintf(`<p>Zim nolat dor:</p><p><a href="%s">%s</a></p><p><a href="%s">https://acme.example</a></p>`, noticeLink, c.shown, noticeOther)
		checkAction(t, otp.Mail{Subject: "Welcome to Acme", HTML: html}, otp.Action{URL: noticeLink, Kind: c.kind})
		checkAction(t, otp.Mail{Subject: "Acme", Text: "Zim nolat dor.\n\n" + c.shown + "\n"}, otp.Action{URL: c.shown, Kind: c.kind})
	}
	for _, shown := range []string{"https://acme.example/conf…", "https://acme.example/...", "HTTPS://Acme.example/user/…/9f8e7d6c"} {
		const verify = "https://acme.example/user/bo/confirm?token=9f8e7d6c"
		html := fmt.Sprintf(`<a href="%s">%s</a>`, verify, shown)
		checkAction(t, otp.Mail{Subject: "Welcome", HTML: html}, otp.Action{URL: verify, Kind: otp.Verify})
	}
	unsubscribe := fmt.Sprintf(`<p>Zim nolat dor:</p><p><a href="%s">https://acme.example/unsubscribe?token=9f8e7d6c</a></p>`, noticeLink)
	checkAction(t, otp.Mail{Subject: "Welcome to Acme", HTML: unsubscribe}, otp.Action{})
}

// TestButtonsThatSayClick holds that a button on which "click here to confirm" stands is the action, though the subject
// says nothing of it.
func TestButtonsThatSayClick(t *testing.T) {
	for _, button := range []string{
		"Click here to confirm your email address", "Klik hier om je e-mailadres te bevestigen", "Klikk her for å bekrefte e-postadressen", "Cliquez ici pour confirmer votre adresse",
		"Klicken Sie hier, um Ihre Adresse zu bestätigen", "Haz clic aquí para confirmar tu correo", "Fai clic aquí para confirmar o teu enderezo", "Kattintson ide a cím megerősítéséhez",
	} {
		html := fmt.Sprintf(`<h1>Acme</h1><p><a href="%s">%s →</a></p>`, noticeLink, button)
		checkAction(t, otp.Mail{Subject: "Acme", HTML: html}, otp.Action{URL: noticeLink, Kind: otp.Verify})
	}
}

// TestButtonBesideLink holds that a button comes before a link in a sentence, by which one asks for another mail, and that its
// word may be of another language than the mail.
func TestButtonBesideLink(t *testing.T) {
	for _, c := range []struct{ subject, sentence, button, after string }{
		{"Please confirm your email address", "Press the button to verify your address.", "VERIFY", `It is good for 3 hours. You can get another one by <a href="%s">resending the confirmation mail</a>.`},
		{"Bitte bestätigen Sie Ihre E-Mail-Adresse", "Drücken Sie den Knopf.", "VERIFY", `Er gilt drei Stunden. Danach hilft <a href="%s">Bestätigungsmail erneut senden</a> weiter.`},
		{"Willkommen", "Schön, dass Sie da sind. Ihre Adresse muss noch bestätigt werden.", "Verify Account", `Mehr steht in der <a href="%s">Hilfe</a>.`},
	} {
		html := fmt.Sprintf(`<p>%s</p><p><a href="%s">%s</a></p><p>`+c.after+`</p>`, c.sentence, noticeLink, c.button, noticeOther)
		checkAction(t, otp.Mail{Subject: c.subject, HTML: html}, otp.Action{URL: noticeLink, Kind: otp.Verify})
	}
}

// TestSignUp holds that a link to make an account by is the action of an invitation, and of a mail that asks to open it.
func TestSignUp(t *testing.T) {
	for _, c := range []struct {
		subject, text, button string
		kind                  otp.ActionKind
	}{
		{"You have been invited to join Pine", "Ann invited you to Pine.", "Sign up now", otp.Invite},
		{"Einladung zu Pine", "Ann hat Sie zu Pine eingeladen.", "Jetzt registrieren", otp.Invite},
		{"Welcome to Pine", "Click on the button below to go on with your registration.", "Sign up", otp.Verify},
		{"Bienvenue sur Pine", "Cliquez sur le bouton ci-dessous pour continuer.", "S'inscrire", otp.Verify},
		{"Bienvenido a Pine", "Haz clic en el botón para continuar.", "Registrarse", otp.Verify},
	} {
		html := fmt.Sprintf(`<p>%s</p><p><a href="%s">%s</a></p>`, c.text, noticeLink, c.button)
		checkAction(t, otp.Mail{Subject: c.subject, HTML: html}, otp.Action{URL: noticeLink, Kind: c.kind})
	}
}
