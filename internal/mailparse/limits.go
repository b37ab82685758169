package mailparse

// The bounds of a Message. They hold whatever the sender sends; time and memory are linear in the mail's size.
const (
	// MaxHeader is how many bytes of a header block are kept; the rest is skipped up to the body.
	MaxHeader = 1 << 20
	// MaxFields is how many fields of a header are kept.
	MaxFields = 2000
	// MaxAddresses is how many mailboxes are kept of each address list.
	MaxAddresses = 1000
	// MaxParts is how many parts of a mail are parsed, multiparts counted.
	MaxParts = 1000
	// MaxDepth is how deep multiparts and messages may nest; a deeper one is kept whole, as an attachment.
	MaxDepth = 32
	// MaxOpened is how deep a message is opened that is all of the mail, or of the message, around it. Each such
	// message is an attachment as well, so its octets are kept once more.
	MaxOpened = 2
	// MaxDecoded is how many bytes of base64 and quoted-printable content are decoded in a mail; a part
	// that passes it is cut there.
	MaxDecoded = 64 << 20
	// MaxText is how many bytes of UTF-8 are kept for each of Text and HTML.
	MaxText = 4 << 20
	// MaxFilename is the length of an attachment's name in bytes.
	MaxFilename = 255

	// maxBoundary is far above the 70 characters RFC 2046 §5.1.1 allows.
	maxBoundary = 256
	// maxLabel is how long the name of a charset may be in an encoded word.
	maxLabel = 64
	// maxName is how long a field name may be; a line with more before its colon is no field.
	maxName = 256
	// maxParams is how many parameters are read of one field, RFC 2231 continuations counted.
	maxParams = 1000
)
