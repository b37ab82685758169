package otp_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// TestCancellingLinkIsNotTheOne holds that of two links the one by which the reader
// confirms comes first, and the one by which he cancels or reports is not given.
func TestCancellingLinkIsNotTheOne(t *testing.T) {
	for _, c := range []struct{ subject, confirm, cancel, button, other string }{
		{"Confirm your e-mail address", "To confirm your address, open this page:", "If you did not register, cancel the confirmation here:", "Confirm address", "Cancel this request"},
		{"Verify your account", "Verify your account here:", "Report this if it wasn't you:", "Verify", "This wasn't me"},
		{"Bestätigung der E-Mail-Adresse", "Um die Anmeldung zu bestätigen, rufe diese Seite auf:", "Hast du kein Konto registriert, rufe diese Seite auf, um die Bestätigung abzubrechen:", "Adresse bestätigen", "Anmeldung abbrechen"},
		{"Confirmez votre adresse", "Pour confirmer votre adresse, ouvrez cette page :", "Pour annuler cette confirmation :", "Confirmer l'adresse", "Annuler la demande"},
		{"Confirma tu correo", "Para confirmar tu correo, abre esta página:", "Para cancelar la confirmación, abre esta:", "Confirmar correo", "No he sido yo"},
		{"Conferma il tuo indirizzo", "Per confermare l'indirizzo:", "Per annullare la conferma:", "Conferma indirizzo", "Annulla la conferma"},
		{"Confirme seu e-mail", "Para confirmar seu e-mail:", "Para cancelar a confirmação:", "Confirmar e-mail", "Não fui eu"},
		{"Bevestig je adres", "Om je adres te bevestigen:", "Om de bevestiging te annuleren:", "Adres bevestigen", "Verzoek annuleren"},
		{"Bekräfta din adress", "För att bekräfta din adress:", "För att avbryta bekräftelsen:", "Bekräfta adressen", "Avbryt begäran"},
		{"Bekræft din adresse", "For at bekræfte din adresse:", "For at annullere bekræftelsen:", "Bekræft adresse", "Annuller anmodning"},
		{"Potwierdź adres", "Aby potwierdzić adres:", "Aby anulować potwierdzenie:", "Potwierdź adres", "Anuluj"},
		{"Potvrďte adresu", "Pro potvrzení adresy:", "Pro zrušení potvrzení:", "Potvrdit adresu", "Zrušit žádost"},
		{"Подтвердите адрес", "Чтобы подтвердить адрес, откройте страницу:", "Чтобы отменить подтверждение, откройте страницу:", "Подтвердить адрес", "Отменить запрос"},
		{"Підтвердьте адресу", "Щоб підтвердити адресу:", "Щоб скасувати підтвердження:", "Підтвердити адресу", "Скасувати запит"},
		{"Adresinizi doğrulayın", "Adresinizi doğrulamak için:", "Doğrulamayı iptal etmek için:", "Adresi doğrula", "İsteği iptal et"},
		{"Vahvista osoitteesi", "Vahvista osoitteesi täällä:", "Peruuta vahvistus täällä:", "Vahvista osoite", "Peruuta pyyntö"},
		{"Erősítse meg a címét", "A cím megerősítéséhez:", "A megerősítés visszavonásához:", "Cím megerősítése", "Kérelem törlése"},
		{"Confirmați adresa", "Pentru a confirma adresa:", "Pentru a anula confirmarea:", "Confirmă adresa", "Anulează cererea"},
		{"Επιβεβαιώστε τη διεύθυνσή σας", "Για επιβεβαίωση της διεύθυνσης:", "Για ακύρωση της επιβεβαίωσης:", "Επιβεβαίωση", "Ακύρωση αιτήματος"},
		{"Xác minh địa chỉ", "Để xác minh địa chỉ:", "Để hủy xác minh:", "Xác minh địa chỉ", "Hủy yêu cầu"},
		{"Verifikasi alamat", "Untuk verifikasi alamat:", "Untuk membatalkan verifikasi:", "Verifikasi alamat", "Batalkan permintaan"},
		{"メールアドレスの確認", "メールアドレスを確認するには次のページを開いてください：", "確認をキャンセルするには：", "メールアドレスを確認", "キャンセル"},
		{"验证您的邮箱", "请打开此页面验证邮箱：", "如需取消验证，请打开：", "验证邮箱", "取消请求"},
		{"이메일 인증", "이메일을 인증하려면:", "인증을 취소하려면:", "이메일 인증", "요청 취소"},
		{"تأكيد بريدك", "لتأكيد بريدك افتح الصفحة:", "لإلغاء التأكيد:", "تأكيد البريد", "إلغاء الطلب"},
		{"אימות הכתובת", "לאימות הכתובת:", "לביטול האימות:", "אימות הכתובת", "ביטול הבקשה"},
	} {
		const yes, no = "https://acme.example/a/8c1d0f2a", "https://acme.example/b/77ab01cd"
		for _, m := range []otp.Mail{
			{Subject: c.subject, Text: fmt.Sprintf("%s\n\n%s\n\n%s\n\n%s\n", c.confirm, yes, c.cancel, no)},
			{Subject: c.subject, Text: fmt.Sprintf("%s\n\n%s\n\n%s\n\n%s\n", c.cancel, no, c.confirm, yes)},
			{Subject: c.subject, HTML: fmt.Sprintf(`<p><a href="%s">%s</a></p><p><a href="%s">%s</a></p>`, no, c.other, yes, c.button)},
			{Subject: c.subject, HTML: fmt.Sprintf(`<p>%s</p><p><a href="%s">%s</a></p><p>%s</p><p><a href="%s">%s</a></p>`, c.cancel, no, no, c.confirm, yes, yes)},
		} {
			if got := otp.Extract(m).Links; !slices.Equal(got, []string{yes}) {
				t.Errorf("Extract(%+v).Links = %q, want %q alone", m, got, yes)
			}
		}
	}
}

// TestInvitingLink holds that the link by which an invitation is accepted is given, and no
// other.
func TestInvitingLink(t *testing.T) {
	const want = "https://www.acme.example/t/52?s=9f8e7d6c"
	for _, c := range []struct{ subject, text, button string }{
		{"Bo invited you to Design", "Bo has invited you to join the team Design.", "Accept invitation"},
		{"Design", "Bo would like to work with you.", "Join the team"},
		{"Einladung zu Design", "Bo hat dich ins Team Design eingeladen.", "Einladung annehmen"},
		{"Invitation à rejoindre Design", "Bo vous a invité.", "Accepter l'invitation"},
		{"Invitación a Design", "Bo te ha invitado.", "Aceptar invitación"},
		{"Zaproszenie do Design", "Bo zaprasza Cię do zespołu.", "Przyjmij zaproszenie"},
		{"Приглашение в Design", "Бо приглашает вас.", "Принять приглашение"},
		{"Designへの招待", "Boさんから招待されました。", "招待を受ける"},
		{"Lời mời tham gia Design", "Bo mời bạn tham gia nhóm.", "Chấp nhận lời mời"},
		{"دعوة إلى Design", "دعاك بو للانضمام.", "قبول الدعوة"},
	} {
		m := otp.Mail{Subject: c.subject, HTML: fmt.Sprintf(`<p><a href="https://www.acme.example">Acme</a></p><p>%s</p><p><a href="%s">%s</a></p><p><a href="https://www.acme.example/help">Help</a></p>`, c.text, want, c.button)}
		if got := otp.Extract(m).Links; !slices.Equal(got, []string{want}) {
			t.Errorf("Extract(%+v).Links = %q, want %q alone", m, got, want)
		}
	}
}

// TestWordsBeforeAddresses holds that what is said of a link decides before its address.
func TestWordsBeforeAddresses(t *testing.T) {
	for _, c := range []struct {
		name string
		mail otp.Mail
		want []string // the links, best first
	}{
		{
			"the text beats words of another address",
			otp.Mail{HTML: `<a href="https://a.example/auth/login/token=1">Acme</a><p><a href="https://a.example/x">Reset your password</a></p>`},
			[]string{"https://a.example/x", "https://a.example/auth/login/token=1"},
		},
		{
			"a warning that the link expires does not speak against it",
			otp.Mail{Subject: "Подтвердите запрос", Text: "Ваша заявка у нас.\n\nОткройте эту страницу, ссылка истекает завтра.\n\nhttps://acme.example/recovery/confirm/78c5\n"},
			[]string{"https://acme.example/recovery/confirm/78c5"},
		},
		{
			"the front page comes last",
			otp.Mail{Subject: "New password", Text: "We got a request for a new password for your login at https://wiki.acme.example/\n\nPage to go on:\n\nhttps://wiki.acme.example/doku.php?do=resendpwd&pwauth=2340\n"},
			[]string{"https://wiki.acme.example/doku.php?do=resendpwd&pwauth=2340", "https://wiki.acme.example/"},
		},
		{
			"a tracked address says nothing",
			otp.Mail{Subject: "Your week", HTML: `<p><a href="https://u1.ct.example/ls/click?upn=authLOGINtoken=1">News</a></p><p><a href="https://u1.ct.example/ls/click?upn=2">Sign in</a></p><p><a href="https://u1.ct.example/ls/click?upn=verify3">Unsubscribe</a></p>`},
			[]string{"https://u1.ct.example/ls/click?upn=2"},
		},
		{
			"the sentence that a link stands in",
			otp.Mail{HTML: `<p>To confirm your address, click <a href="https://a.example/1">here</a>. To cancel the registration, click <a href="https://a.example/2">here</a>.</p>`},
			[]string{"https://a.example/1"},
		},
		{
			"the only link of a mail whose subject asks for one",
			otp.Mail{Subject: "Verify your address", HTML: `<p><a href="https://a.example"><img src="l.png"></a></p><p>Almost done.</p><p><a href="https://a.example/r/8f2c">Continue</a></p>`},
			[]string{"https://a.example/r/8f2c"},
		},
		{
			"none of several that nothing is said of",
			otp.Mail{Subject: "Verify your address", HTML: `<p>News.</p><p><a href="https://a.example/r/1">Trees</a></p><p><a href="https://a.example/r/2">Birds</a></p>`},
			nil,
		},
		{
			"no link that invalidates",
			otp.Mail{Subject: "Confirm", Text: "Here:\n\nhttps://a.example/ConfirmEmail/1\n\nOr here:\n\nhttps://a.example/InvalidateEmail/2\n"},
			[]string{"https://a.example/ConfirmEmail/1"},
		},
		{
			"no link of a footer",
			otp.Mail{Subject: "Your code is 482913", HTML: `<p>Your sign-in code is 482913.</p><p>It expires soon.</p><p>Unsubscribe</p><p><a href="https://a.example/u/1">Log in to manage mails</a></p>`},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := otp.Extract(c.mail).Links; !slices.Equal(got, c.want) {
				t.Errorf("Extract(%+v).Links = %q, want %q", c.mail, got, c.want)
			}
		})
	}
}

// TestLinksOfServices holds which link is given of mails as services write them: one, or none.
func TestLinksOfServices(t *testing.T) {
	for _, c := range []struct {
		want string
		mail otp.Mail
	}{
		{"https://example.com/accounts/r/MQ/abc/", otp.Mail{Subject: "Password reset on example.com", Text: "You're receiving this email because you requested a password reset for your user account at example.com.\n\nPlease go to the following page and choose a new password:\n\nhttps://example.com/accounts/r/MQ/abc/\n\nYour username, in case you've forgotten: x\n\nThanks for using our site!"}},
		{"https://id.acme.example/realms/x/action-token?key=abc", otp.Mail{Subject: "Verify email", Text: "Someone has created an Acme account with this email address. If this was you, click the link below to verify your email address\n\nhttps://id.acme.example/realms/x/action-token?key=abc\n\nThis link will expire within 5 minutes.\n\nIf you didn't create this account, just ignore this message."}},
		{"https://acme.example/wp-login.php?action=rp&key=abc&login=bo", otp.Mail{Subject: "[Acme] Password Reset", Text: "Someone has requested a password reset for the following account:\n\nSite Name: Acme\n\nUsername: bo\n\nIf this was a mistake, ignore this email and nothing will happen.\n\nTo reset your password, visit the following address:\n\nhttps://acme.example/wp-login.php?action=rp&key=abc&login=bo"}},
		{"", otp.Mail{Subject: "Your email was changed", Text: "Your email address was changed to b@x.example.\n\nIf you did not do this, undo it here:\n\nhttps://acme.example/account/undo?t=1"}},
		{"", otp.Mail{Subject: "New sign-in to Acme", HTML: `<p>We noticed a new sign-in to your account.</p><p><a href="https://acme.example/activity">Check activity</a></p><p>If this wasn't you, <a href="https://acme.example/secure/1">secure your account</a>.</p>`}},
		{"https://acme.example/m/1a2b", otp.Mail{Subject: "Sign in to Acme", HTML: `<p><a href="https://acme.example/"><img src="x"></a></p><p>Click the button to sign in.</p><p><a href="https://acme.example/m/1a2b">Continue</a></p><p>If the button does not work, paste this into your browser: <a href="https://acme.example/m/1a2b">https://acme.example/m/1a2b</a></p><p>If you did not request this, ignore it.</p><p><a href="https://acme.example/privacy">Privacy</a> <a href="https://acme.example/unsub">Unsubscribe</a></p>`}},
		{"https://acme.example/x/1", otp.Mail{Subject: "Ihre Anmeldung", HTML: `<p>Bitte klicken Sie auf den Button, um sich anzumelden. Der Link läuft in 10 Minuten ab.</p><p><a href="https://acme.example/x/1">Weiter</a></p><p>Sie haben das nicht angefordert? <a href="https://acme.example/y/2">Melden Sie es</a>.</p>`}},
		{"https://acme.example/z/9", otp.Mail{Subject: "Réinitialisation", Text: "Si vous n'êtes pas à l'origine de cette demande, ignorez ce message.\n\nPour choisir un nouveau mot de passe :\nhttps://acme.example/z/9\n\nAide : https://acme.example/aide"}},
		{"https://acme.example/confirm-email/abc", otp.Mail{Subject: "Welcome to Acme", HTML: `<h1>Welcome</h1><p>Thanks for joining.</p><a href="https://acme.example/confirm-email/abc" style="x">Confirm email</a><p>Follow us: <a href="https://twitter.com/acme">Twitter</a></p>`}},
		{"https://acme.example/j/52", otp.Mail{Subject: "Du wurdest eingeladen", Text: "Bo lädt dich ein, dem Team Design beizutreten.\n\nhttps://acme.example/j/52\n\nAblehnen: https://acme.example/d/52"}},
		{"https://acme.example/i/1/accept", otp.Mail{Subject: "Invitation", HTML: `<p>Bo invited you.</p><p><a href="https://acme.example/i/1/accept">Accept</a> <a href="https://acme.example/i/1/decline">Decline</a></p>`}},
		{"https://acme.example/c/1", otp.Mail{Subject: "Подтверждение", Text: "Если вы не регистрировались, просто проигнорируйте письмо.\n\nДля подтверждения адреса перейдите по ссылке:\n\nhttps://acme.example/c/1\n\nЧтобы отписаться: https://acme.example/u/1"}},
		{"https://acme.example/account", otp.Mail{Subject: "Order shipped", HTML: `<p>Your order is on its way.</p><p><a href="https://acme.example/track/1">Track order</a></p><p><a href="https://acme.example/account">Sign in to your account</a></p>`}},
		{"", otp.Mail{Subject: "Weekly digest", HTML: `<p><a href="https://acme.example/a/authors-of-the-week">Authors of the week</a></p>`}},
		{"https://acme.example/users/u?t=1", otp.Mail{Subject: "Unlock your account", Text: "Your account has been locked due to too many failed attempts.\n\nClick the link below to unlock your account:\n\nhttps://acme.example/users/u?t=1"}},
		{"https://acme.example/k/1", otp.Mail{Subject: "アカウントの確認", Text: "以下のリンクをクリックして登録を完了してください。\n\nhttps://acme.example/k/1\n\n心当たりのない場合はこちら：\nhttps://acme.example/n/1\n"}},
		{"https://acme.example/k/1", otp.Mail{Subject: "验证邮箱", Text: "点击链接完成验证：https://acme.example/k/1\n如非本人操作，请点击：https://acme.example/n/1\n"}},
	} {
		got := otp.Extract(c.mail).Links
		if len(got) > 1 || len(got) == 1 && got[0] != c.want || len(got) == 0 && c.want != "" {
			t.Errorf("Extract(%+v).Links = %q, want %q alone", c.mail, got, c.want)
		}
	}
}
