package mailparse

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// lookup returns the encoding of a charset by any of the names that senders use. nil means that the encoding is to be
// guessed from the bytes: for unknown names, and for names that are often wrong (US-ASCII) or must not be decoded
// (UTF-7). ISO-8859-1 is read as windows-1252 and GB2312 as GB18030, their supersets, as browsers do.
func lookup(label string) encoding.Encoding {
	if label == "" {
		return nil
	}
	if strings.EqualFold(label, "utf-8") { // most mail
		return unicode.UTF8
	}
	name := plainLabel(label)
	for _, family := range [...]func(string) encoding.Encoding{latin, slavic, eastAsian, wide} {
		if e := family(name); e != nil {
			return e
		}
	}
	return nil
}

// plainLabel returns the letters, in lower case, and digits of a charset's name: senders differ in the rest.
func plainLabel(label string) string {
	if i := strings.IndexByte(label, '*'); i >= 0 { // the language tag of RFC 2231 §5
		label = label[:i]
	}
	var b [maxLabel]byte
	n := 0
	for i := 0; i < len(label) && n < len(b); i++ {
		c := label[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			b[n] = c
			n++
		}
	}
	return string(b[:n])
}

// latin returns encodings of one byte except Cyrillic ones.
func latin(name string) encoding.Encoding {
	switch name {
	case "iso88591", "iso885911987", "isoir100", "latin1", "l1", "ibm819", "cp819", "windows1252", "cp1252", "xcp1252", "ansi":
		return charmap.Windows1252
	case "iso88592", "iso885921987", "latin2", "l2":
		return charmap.ISO8859_2
	case "iso88593", "iso885931988", "latin3", "l3":
		return charmap.ISO8859_3
	case "iso88594", "iso885941988", "latin4", "l4":
		return charmap.ISO8859_4
	case "iso88596", "iso885961987", "iso88596e", "iso88596i", "arabic", "asmo708":
		return charmap.ISO8859_6
	case "iso88597", "iso885971987", "greek", "greek8":
		return charmap.ISO8859_7
	case "iso88598", "iso885981988", "iso88598e", "iso88598i", "hebrew", "visual", "logical":
		return charmap.ISO8859_8
	case "iso88599", "iso885991989", "latin5", "l5", "windows1254", "cp1254", "xcp1254":
		return charmap.Windows1254
	case "iso885910", "latin6", "l6":
		return charmap.ISO8859_10
	case "iso885911", "tis620", "windows874", "cp874", "dos874":
		return charmap.Windows874
	case "iso885913":
		return charmap.ISO8859_13
	case "iso885914", "latin8":
		return charmap.ISO8859_14
	case "iso885915", "latin9", "l9":
		return charmap.ISO8859_15
	case "iso885916", "latin10":
		return charmap.ISO8859_16
	case "windows1250", "cp1250", "xcp1250":
		return charmap.Windows1250
	case "windows1253", "cp1253", "xcp1253":
		return charmap.Windows1253
	case "windows1255", "cp1255", "xcp1255":
		return charmap.Windows1255
	case "windows1256", "cp1256", "xcp1256":
		return charmap.Windows1256
	case "windows1257", "cp1257", "xcp1257":
		return charmap.Windows1257
	case "windows1258", "cp1258", "xcp1258":
		return charmap.Windows1258
	case "macintosh", "mac", "macroman", "xmacroman":
		return charmap.Macintosh
	case "ibm437", "cp437", "437":
		return charmap.CodePage437
	case "ibm850", "cp850", "850":
		return charmap.CodePage850
	case "ibm852", "cp852", "852":
		return charmap.CodePage852
	}
	return nil
}

// slavic returns Cyrillic encodings of one byte.
func slavic(name string) encoding.Encoding {
	switch name {
	case "koi8r", "koi8", "koi", "cskoi8r":
		return charmap.KOI8R
	case "koi8u", "koi8ru":
		return charmap.KOI8U
	case "iso88595", "iso885951988", "cyrillic":
		return charmap.ISO8859_5
	case "windows1251", "cp1251", "xcp1251", "win1251":
		return charmap.Windows1251
	case "ibm866", "cp866", "866", "csibm866", "dos866":
		return charmap.CodePage866
	case "ibm855", "cp855", "855":
		return charmap.CodePage855
	case "xmaccyrillic", "maccyrillic", "xmacukrainian":
		return charmap.MacintoshCyrillic
	}
	return nil
}

// eastAsian returns Chinese, Japanese and Korean encodings.
func eastAsian(name string) encoding.Encoding {
	switch name {
	case "gb2312", "gb231280", "gbk", "xgbk", "cp936", "ms936", "windows936", "936", "euccn", "gb18030", "chinese", "isoir58":
		return simplifiedchinese.GB18030
	case "hzgb2312", "hz":
		return simplifiedchinese.HZGB2312
	case "big5", "big5hkscs", "cnbig5", "xxbig5", "cp950", "ms950", "windows950", "950":
		return traditionalchinese.Big5
	case "shiftjis", "sjis", "xsjis", "mskanji", "cp932", "ms932", "windows31j", "cswindows31j", "932":
		return japanese.ShiftJIS
	case "iso2022jp", "iso2022jp1", "iso2022jp2", "iso2022jp3", "iso2022jpms", "csiso2022jp", "cp50220", "cp50221", "jis":
		return japanese.ISO2022JP
	case "eucjp", "xeucjp", "eucjpms", "cp51932", "ujis":
		return japanese.EUCJP
	case "euckr", "ksc56011987", "ksc56011989", "ksc5601", "ksx1001", "korean", "cp949", "ms949", "windows949", "uhc", "949", "isoir149":
		return korean.EUCKR
	}
	return nil
}

// wide returns the encodings of Unicode.
func wide(name string) encoding.Encoding {
	switch name {
	case "utf8", "unicode11utf8", "unicode20utf8", "utf8mb4", "cputf8", "cp65001", "65001", "utf8n", "xutf8":
		return unicode.UTF8
	case "utf16", "utf16be", "unicode", "ucs2", "iso10646ucs2", "csunicode", "unicodefffe":
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case "utf16le", "unicodefeff":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case "utf32", "utf32be", "ucs4":
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	case "utf32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	}
	return nil
}
