package otp_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// wordings are kinds of sentence, each in languages that put it differently.
var wordings = []struct{ name, subject, text, want string }{
	{"digits en", "Sign in to Fernhill", "Type these six digits on the sign-in page:\n\n204 771", "204771"},
	{"digits da", "Log ind på Havlyst", "Tast de seks tal ind for at logge ind:\n\n204 771", "204771"},
	{"digits et", "Sisselogimine", "Sisselogimiseks kirjuta need numbrid avatud lehele:\n\n204 771", "204771"},
	{"digits fr", "Connexion à Belleroche", "Pour vous connecter, recopiez ces six chiffres :\n\n204 771", "204771"},
	{"digits he", "כניסה לחשבון", "כדי להיכנס הקלידו את הספרות הבאות:\n\n204771", "204771"},
	{"digits ms", "Log masuk Seroja", "Untuk log masuk, taip angka berikut:\n\n204 771", "204771"},
	{"digits pl", "Logowanie do Wrzosu", "Aby się zalogować, przepisz poniższe cyfry:\n\n204 771", "204771"},
	{"digits ro", "Autentificare", "Pentru a te conecta, tastează cifrele de mai jos:\n\n204 771", "204771"},
	{"digits sk", "Prihlásenie", "Na prihlásenie prepíšte tieto číslice: 204 771", "204771"},
	{"digits sl", "Prijava v Lipo", "Za prijavo vtipkajte te številke:\n\n204 771", "204771"},
	{"digits es", "Inicia sesión en Olivar", "Teclea estas seis cifras para iniciar sesión:\n\n204 771", "204771"},
	{"digits ja", "ログインの確認", "ログインするには次の数字を入力してください。\n\n204771", "204771"},
	{"digits ru", "Вход в Рябину", "Чтобы войти, наберите эти цифры:\n\n204 771", "204771"},
	{"digits cs", "Přihlášení", "Pro přihlášení opište tyto číslice:\n\n204 771", "204771"},
	{"verb en", "Is this your address?", "To confirm your address, key in 20 47 71.", "204771"},
	{"verb de", "Adresse bestätigen", "Zum Bestätigen: 204 771", "204771"},
	{"verb it", "Conferma l'indirizzo", "Per confermare il telefono digiti 204771.", "204771"},
	{"verb nb", "Logg inn", "Er det deg som logger inn, taster du inn\n\n204 771", "204771"},
	{"genitive pt", "Olá", "O código de ativação da sua conta é 204771.", "204771"},
	{"genitive fr", "Bonjour", "Le code pour valider votre tablette est 204771.", "204771"},
	{"genitive vi", "Xin chào", "Mã kích hoạt tài khoản của bạn là 204771.", "204771"},
	{"genitive es", "Hola", "El código de verificación de tu cuenta es 204771.", "204771"},
	{"newer de", "Ihr Code", "Ihr alter Code 118203 ist abgelaufen. Der neue lautet 204771.", "204771"},
	{"newer en", "Your code", "Forget 118203, it has expired. The right one is 204771.", "204771"},
	{"unspaced zh", "登录", "动态密码204771,5分钟内有效。", "204771"},
	{"bracketed zh", "登录", "您的验证码为:[204771],请勿泄露。", "204771"},
	{"identity ja", "お手続き", "本人確認用の番号：204771", "204771"},
	{"hyphen fi", "Terveyspalvelu", "Kertakäyttökoodi: K7WD-52.", "K7WD-52"},
	{"letters en", "Your sign-in code", "Your one-time code is RB63KX.", "RB63KX"},
	{"groups of three", "Verify", "Your verification code is 204 771 36.", "20477136"},
	{"pairs", "Verify", "Your verification code: 20 47 71", "204771"},
	{"field es", "Casi listo", "Para crear tu cuenta, escribe 3047 donde dice «código».", "3047"},

	{"purpose da", "Konto", "Koden til at bekræfte din konto er 204771.", "204771"},
	{"purpose pl", "Dostęp", "Kod do powiązania telefonu to 204771.", "204771"},
	{"purpose es", "Hola", "El código para vincular tu teléfono es 204771.", "204771"},
	{"your numbers en", "Log in", "Here are your numbers: 204771. They work once.", "204771"},
	{"number cs", "Potvrďte adresu", "Vaše číslo pro potvrzení je 204771.", "204771"},

	{"statistics fr", "Bilan", "Les chiffres du mois : 204771 visites.", ""},
	{"statistics de", "Bilanz", "Die Zahlen: 204771 Besucher im März.", ""},
	{"call back en", "Missed call", "Ring back on this number: 204771\nSign in to hear the message.", ""},
	{"way in fr", "Votre séjour", "Pour entrer, tapez 4821 puis la cloche.", ""},
	{"user name en", "Login details", "Login: 204771", ""},
	{"money zh", "验证", "验证码相关费用 204771,3元。", ""},
	{"phone de", "Dein Anruf", "Rückruf unter 204 771 36.", ""},
	{"receipt en", "Your receipt", "Total £31.20\nCard ending 5520, auth code 204771", ""},
	{"receipt it", "Ricevuta n. 118", "Pagato con carta **** 5520. Codice autorizzazione 204771.", ""},
	{"receipt fr", "Votre ticket", "Carte **** 5520. N° d'autorisation 204771.", ""},
	{"receipt es", "Recibo de compra", "Pagado con tarjeta **** 5520. Cód. autorización 204771.", ""},
	{"receipt pl", "Paragon", "Płatność kartą **** 5520. Nr autoryzacji 204771.", ""},
	{"postal en", "Your order has shipped", "Deliver to: 14 Lake Road, Pune, PIN code 411014.", ""},
	{"postal hi", "आपका ऑर्डर", "पता: 14 झील रोड, पुणे, पिन कोड 411014", ""},
	{"postal mr", "तुमची ऑर्डर", "पत्ता: १४ तलाव रोड, पुणे, पिन कोड ४११०१४", ""},
	{"postal te", "మీ ఆర్డర్", "చిరునామా: హైదరాబాద్, పిన్ కోడ్ 500014", ""},
	{"postal ta", "உங்கள் ஆர்டர்", "முகவரி: சென்னை, பின்கோடு 600014", ""},
	{"postal kn", "ನಿಮ್ಮ ಆರ್ಡರ್", "ವಿಳಾಸ: ಬೆಂಗಳೂರು, ಪಿನ್ ಕೋಡ್ 560014", ""},
	{"postal bn", "আপনার অর্ডার", "ঠিকানা: কলকাতা, পিন কোড 700014", ""},
	{"postal gu", "તમારો ઓર્ડર", "સરનામું: સુરત, પિન કોડ 395014", ""},
	{"meeting en", "Project call", "Dial in by phone: +44 20 7946 0018, access code 204771", ""},
	{"meeting nl", "Overleg", "Vergader-ID 771 204 118, toegangscode 204771.", ""},
	{"four and two", "Verify", "Enter 7204 71 on the page to sign in.", "720471"},
	{"year and two", "Sign in", "Your account was opened in 2019 71 weeks ago.", ""},
	{"phone fr", "Connexion", "Une connexion a eu lieu. Ce n'était pas vous : 02 97 19 35 58.", ""},
	{"quoted en", "Stay safe", "Last week's fake mail said “Your verification code is 204771” and many typed it.", ""},
	{"quoted de", "Achtung", "In der Mail stand „Ihr Bestätigungscode lautet 204771“.", ""},
	{"in quotes en", "Sign in", "Your verification code is “204771”.", "204771"},
	{"offer fi", "Koodi vain sinulle", "-20 % kaikesta. Koodi 204771", ""},
	{"used de", "Anmeldung", "Den Code 204771 haben Sie verwendet, um sich anzumelden.", ""},
	{"gift card fr", "Votre carte", "Carte cadeau n° 2047 7118 2047 7118 ; code secret : 2047.", ""},
	{"licence de", "Freischaltung", "Seriennummer 2047-7118-2047 und Freischaltcode 204771 eintragen.", ""},
	{"alert is", "Lykilorði breytt", "Lykilorðinu þínu var breytt. Ef það varst ekki þú skaltu hringja í 204 7718.", ""},
	{"alert pl", "Hasło zmienione", "Hasło zostało zmienione. To nie Ty? Zadzwoń: 204771.", ""},
	{"spent en", "Your code", "The verification code 204771 you requested at 10:20 wasn't entered in time and has expired.", ""},
	{"meeting pl", "Spotkanie", "Dołącz do spotkania. Kod dostępu: 204771", ""},
	{"meeting ru", "Встреча", "Идентификатор конференции 771 204 1180, код доступа: 204771.", ""},
	{"meeting fr", "Réunion", "Rejoindre la réunion. Code d'accès : 204771", ""},
	{"meeting es", "Reunión", "Unirse a la reunión. Código de acceso: 204771", ""},
	{"meeting tr", "Toplantı", "Toplantı kimliği 771 204 1180, erişim kodu: 204771", ""},
	{"keys en", "Arriving on Friday", "The keysafe is left of the door, code 2047.", ""},
	{"keys de", "Ihre Anreise", "Schlüsselbox neben der Tür: Code 2047.", ""},
	{"keys fr", "Votre arrivée", "Boîte à clés à gauche de la porte, code 2047.", ""},
	{"keys pl", "Przyjazd", "Skrytka na klucze przy drzwiach, kod 2047.", ""},
	{"keys sv", "Din ankomst", "Nyckelbox vid dörren: kod 2047.", ""},
	{"card PIN en", "Your library card", "Card number 20118472\nTemporary PIN: 2047\nChange it on your first visit.", ""},
	{"card PIN de", "Ihr Ausweis", "Vorläufige PIN: 2047. Bitte ändern Sie sie.", ""},
	{"card PIN fi", "Kirjastokortti", "Tilapäinen PIN: 2047", ""},
	{"own label de", "Ihr Code ist unterwegs", "Den Code haben wir an die Nummer mit 07 am Ende geschickt. Anforderungszeichen 204771.", ""},
	{"own label fr", "Votre code a servi", "Votre code de sécurité a servi à une connexion. Repère 204771.", ""},
	{"own label sv", "Din kod", "Koden kom i ett sms till numret som slutar på 07. Diarienummer 204771.", ""},
	{"meeting is", "Fundur", "Auðkenni: 771 204 7118. Aðgangskóði 204771.", ""},
	{"meeting el", "Συνάντηση", "Αναγνωριστικό 771 2047 7118. Κωδικός πρόσβασης: 204771", ""},
	{"kept password de", "Neues Konto", "Kennwort: Winter2047", ""},
	{"kept password ro", "Cont nou", "Parola contului: Brad2047", ""},
	{"other code hu", "Foglalás", "Szobakód 204771", ""},
	{"other code cs", "Šatna", "Kód skříňky: 204771", ""},
	{"other code ko", "소식", "초청 코드 204771", ""},
	{"receipt ca", "Pagament a Can Roure", "18,20 €. Codi d'autorització 204771. Targeta acabada en 2047.", ""},
	{"receipt sv", "Köp hos Eken", "182,00 €. Auktoriseringskod 204771. Kort som slutar på 2047.", ""},
	{"meeting it", "Riunione", "ID riunione: 771 2047 7118. Passcode della riunione: 204771.", ""},
	{"meeting uk", "Відеозустріч", "Ідентифікатор 771 204 7118, пароль 204771.", ""},
	{"pair en", "Library card", "Your reader ID is 2047711 and your PIN is 204771.", ""},
	{"report nl", "Uw code", "Bevestigingscode 204771 werd gebruikt op 3 mei om 10.12 uur.", ""},
	{"report hr", "Obavijest", "Kod 204771 poslužio je dana 3. svibnja u 10:12 sati.", ""},
	{"told beside another hi", "सीमा", "सहमत हों तो बैंक की खिड़की में 204771 लिखें। शाखा 0448।", "204771"},
	{"field after a colon pt", "Só mais uma coisa", "Escreva agora isto na segunda caixa da página: 204 771", "204771"},
	{"year th", "แจ้งเตือน", "ธนาคารไม่เคยขอรหัส OTP ประกาศ ณ มกราคม 2569", ""},
	{"year fa", "هشدار", "هرگز رمز یکبار مصرف خود را به کسی نگویید. بهمن 1404", ""},
}

func TestWordings(t *testing.T) {
	for _, w := range wordings {
		t.Run(w.name, func(t *testing.T) {
			m := otp.Mail{Subject: w.subject, Text: w.text}
			if got := otp.Extract(m).Code; got != w.want {
				t.Errorf("code %q, want %q", got, w.want)
				for _, c := range otp.Explain(m).Candidates {
					t.Logf("%s %.2f %q", c.Display, c.Score, c.Reasons)
				}
			}
		})
	}
}
