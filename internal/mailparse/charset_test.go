package mailparse_test

import (
	"encoding/base64"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/gonebox/gonebox/internal/mailparse"
)

// TestCharsets reads a text and a subject in each charset under each of its names.
func TestCharsets(t *testing.T) {
	for _, c := range []struct {
		encoding encoding.Encoding
		text     string
		labels   []string
	}{
		{charmap.Windows1252, "Grüße “€”", []string{"iso-8859-1", "ISO_8859-1:1987", "latin1", "windows-1252", "cp1252", "x-cp1252"}},
		{charmap.ISO8859_2, "Zażółć gęślą", []string{"iso-8859-2", "latin2", "l2"}},
		{charmap.ISO8859_3, "Ĝuste ĉiam", []string{"iso-8859-3"}},
		{charmap.ISO8859_4, "Ķēniņš", []string{"iso-8859-4"}},
		{charmap.ISO8859_5, "Код входа", []string{"iso-8859-5", "cyrillic"}},
		{charmap.ISO8859_6, "رمز التحقق", []string{"iso-8859-6", "iso-8859-6-i"}},
		{charmap.ISO8859_7, "Κωδικός", []string{"iso-8859-7", "greek"}},
		{charmap.ISO8859_8, "קוד אימות", []string{"iso-8859-8", "iso-8859-8-i", "iso-8859-8-e"}},
		{charmap.Windows1254, "Doğrulama kodunuz için", []string{"iso-8859-9", "latin5", "windows-1254", "cp1254"}},
		{charmap.ISO8859_10, "Ŋŋ þæ", []string{"iso-8859-10"}},
		{charmap.Windows874, "รหัสยืนยัน", []string{"iso-8859-11", "tis-620", "windows-874"}},
		{charmap.ISO8859_13, "Žemaitė", []string{"iso-8859-13"}},
		{charmap.ISO8859_14, "Ŵŵ Ŷŷ", []string{"iso-8859-14"}},
		{charmap.ISO8859_15, "15 € œuvre", []string{"iso-8859-15", "latin-9"}},
		{charmap.ISO8859_16, "Știință", []string{"iso-8859-16"}},
		{charmap.Windows1250, "Příliš žluťoučký", []string{"windows-1250", "cp1250"}},
		{charmap.Windows1251, "Ваш код — №5", []string{"windows-1251", "cp1251", "x-cp1251", "win-1251"}},
		{charmap.Windows1253, "Ο κωδικός", []string{"windows-1253"}},
		{charmap.Windows1255, "הקוד שלך", []string{"windows-1255"}},
		{charmap.Windows1256, "رمزك هو پ", []string{"windows-1256"}},
		{charmap.Windows1257, "Jūsų kodas", []string{"windows-1257"}},
		{charmap.Windows1258, "đơn Ư", []string{"windows-1258"}},
		{charmap.KOI8R, "Ваш код", []string{"koi8-r", "KOI8R", "cskoi8r"}},
		{charmap.KOI8U, "Ваш код її", []string{"koi8-u", "koi8-ru"}},
		{charmap.Macintosh, "déjà «vu»", []string{"macintosh", "x-mac-roman", "mac"}},
		{charmap.CodePage866, "Отчёт", []string{"ibm866", "cp866", "866"}},
		{simplifiedchinese.GB18030, "验证码𠮷", []string{"gb2312", "GBK", "gb18030", "x-gbk", "cp936"}},
		{simplifiedchinese.HZGB2312, "验证码", []string{"hz-gb-2312"}},
		{traditionalchinese.Big5, "驗證碼", []string{"big5", "Big5-HKSCS", "cn-big5", "cp950"}},
		{japanese.ShiftJIS, "認証コード①", []string{"shift_jis", "x-sjis", "sjis", "cp932", "windows-31j", "ms_kanji"}},
		{japanese.ISO2022JP, "認証コード", []string{"iso-2022-jp", "csISO2022JP", "iso-2022-jp-2"}},
		{japanese.EUCJP, "認証コード", []string{"euc-jp", "x-euc-jp"}},
		{korean.EUCKR, "인증번호 똠", []string{"euc-kr", "ks_c_5601-1987", "KSC5601", "cp949", "uhc"}},
		{unicode.UTF8, "mã xác thực ✓", []string{"utf-8", "utf8", "UTF_8", "unicode-1-1-utf-8", "'utf-8'"}},
		{unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM), "κωδικός ✓", []string{"utf-16", "unicode"}},
		{unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "code ✓ and more", []string{"utf-16le", "utf-16"}},
		{unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "code ✓ and more", []string{"utf-16be", "utf-16"}},
		{utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "κωδικός", []string{"utf-32", "utf-32be"}},
	} {
		encoded, err := c.encoding.NewEncoder().String(c.text)
		if err != nil {
			t.Fatalf("encode the text in %v: %v", c.encoding, err)
		}
		b64 := base64.StdEncoding.EncodeToString([]byte(encoded))
		for _, label := range c.labels {
			m := mailparse.Parse([]byte("Subject: =?" + label + "?B?" + b64 + "?=\r\nContent-Type: text/plain; charset=\"" + label +
				"\"\r\nContent-Transfer-Encoding: base64\r\n\r\n" + b64))
			if m.Subject != c.text || m.Text != c.text {
				t.Errorf("%s: subject %q, text %q; want %q", label, m.Subject, m.Text, c.text)
			}
		}
	}
}

func TestGuessedCharset(t *testing.T) {
	for _, c := range []struct{ name, contentType, body, want string }{
		{"none, UTF-8", "text/plain", "\xc3\xa9", "é"},
		{"none, not UTF-8", "text/plain", "caf\xe9 \x80", "café €"},
		{"US-ASCII with 8-bit", "text/plain; charset=us-ascii", "caf\xe9", "café"},
		{"UTF-8 cut off", "text/plain; charset=utf-8", "caf\xc3\xa9 \xe4\xbd", "café \uFFFD"},
		{"Latin that is UTF-8", "text/plain; charset=windows-1252", "caf\xc3\xa9", "café"},
		{"UTF-16 by its mark", "text/plain", "\xff\xfea\x00b\x00", "ab"},
		{"UTF-8 with a mark", "text/plain; charset=iso-8859-1", "\xef\xbb\xbfab", "ab"},
		{"NULs", "text/plain", "a\x00\x00b\x00", "a\uFFFDb\uFFFD"},
		{"UTF-7 stays", "text/plain; charset=utf-7", "a+AOk-b", "a+AOk-b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mailparse.Parse([]byte("Content-Type: " + c.contentType + "\r\n\r\n" + c.body))
			if m.Text != c.want {
				t.Errorf("the text is %q, want %q", m.Text, c.want)
			}
		})
	}
}
