package mailparse

import (
	"strings"
	"unicode"

	"github.com/gonebox/gonebox/internal/truncate"
)

// attachmentName returns a safe file name, made from the name that the sender gave, or from the content type: without
// directories, control characters and marks of writing direction, and at most MaxFilename octets.
func attachmentName(name, media string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		// Marks of writing direction can make evil.exe look like a picture.
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimRight(strings.TrimSpace(name), ". ")
	if strings.Trim(name, ". ") == "" {
		return defaultName(media)
	}
	if media == "message/rfc822" && !strings.HasSuffix(strings.ToLower(name), ".eml") {
		name += ".eml"
	}
	return shorten(name)
}

// shorten cuts a name to MaxFilename and keeps its extension, if that is one.
func shorten(name string) string {
	if len(name) <= MaxFilename {
		return name
	}
	ext := ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= 16 {
		ext = name[i:]
	}
	return truncate.Octets(name[:len(name)-len(ext)], MaxFilename-len(ext)) + ext
}

// defaultName names a part without a name. The table is ours and not the system's, so that a mail gives the same names
// on every machine.
func defaultName(media string) string {
	switch media {
	case "text/calendar", "application/ics":
		return "invite.ics"
	case "text/vcard", "text/x-vcard", "text/directory":
		return "contact.vcf"
	case "text/rfc822-headers", "message/rfc822-headers":
		return "headers.txt"
	case "message/rfc822", "message/global", "message/news":
		return "message.eml"
	case "message/delivery-status", "message/global-delivery-status":
		return "delivery-status.txt"
	case "message/disposition-notification":
		return "disposition-notification.txt"
	case "message/feedback-report":
		return "feedback-report.txt"
	case "application/ms-tnef", "application/vnd.ms-tnef":
		return "winmail.dat"
	case "application/pgp-signature":
		return "signature.asc"
	case "application/pgp-encrypted":
		return "pgp-encrypted.txt"
	case "application/pgp-keys":
		return "key.asc"
	case "application/pkcs7-signature", "application/x-pkcs7-signature":
		return "smime.p7s"
	case "application/pkcs7-mime", "application/x-pkcs7-mime":
		return "smime.p7m"
	}
	group, _, _ := strings.Cut(media, "/")
	base := "attachment"
	switch group {
	case "image", "audio", "video":
		base = group
	}
	return base + extension(media, group)
}

// extension returns the usual extension of a media type, .bin or .txt for others.
func extension(media, group string) string {
	switch media {
	case "text/html":
		return ".html"
	case "text/csv":
		return ".csv"
	case "text/xml", "application/xml":
		return ".xml"
	case "text/css":
		return ".css"
	case "text/rtf", "application/rtf":
		return ".rtf"
	case "image/jpeg", "image/jpg", "image/pjpeg":
		return ".jpg"
	case "image/png", "image/x-png":
		return ".png"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	case "image/bmp", "image/x-ms-bmp":
		return ".bmp"
	case "image/tiff":
		return ".tiff"
	case "image/heic":
		return ".heic"
	case "image/svg+xml":
		return ".svg"
	case "image/x-icon", "image/vnd.microsoft.icon":
		return ".ico"
	case "audio/mpeg", "audio/mp3":
		return ".mp3"
	case "audio/wav", "audio/x-wav":
		return ".wav"
	case "audio/ogg":
		return ".ogg"
	case "video/mp4":
		return ".mp4"
	case "video/quicktime":
		return ".mov"
	case "application/pdf", "application/x-pdf":
		return ".pdf"
	case "application/zip", "application/x-zip-compressed":
		return ".zip"
	case "application/gzip", "application/x-gzip":
		return ".gz"
	case "application/json":
		return ".json"
	case "application/msword":
		return ".doc"
	case "application/vnd.openxmlformats-officedocument.wordprocessingml.document":
		return ".docx"
	case "application/vnd.ms-excel":
		return ".xls"
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
		return ".xlsx"
	case "application/vnd.ms-powerpoint":
		return ".ppt"
	case "application/vnd.openxmlformats-officedocument.presentationml.presentation":
		return ".pptx"
	}
	if group == "text" || group == "message" {
		return ".txt"
	}
	return ".bin"
}
