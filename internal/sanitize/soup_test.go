package sanitize_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/sanitize"
)

// pieces are what tag soup is cooked from: everything whose place in the tree depends on what is around it.
var pieces = strings.Split(`<p>|</p>|<div>|</div>|<table>|</table>|<tr>|</tr>|<td>|</td>|<th>|<tbody>|</tbody>|<thead>|<tfoot>|`+
	`<caption>|</caption>|<colgroup>|<col>|</colgroup>|<ul>|</ul>|<ol>|<li>|</li>|<dl>|<dd>|<dt>|</dl>|<h1>|</h1>|<h2>|</h2>|`+
	`<a href=https://a.example>|</a>|<b>|</b>|<i>|</i>|<font color=red>|</font>|<nobr>|</nobr>|<pre>|</pre>|<center>|</center>|`+
	`<blockquote>|</blockquote>|<br>|</br>|<hr>|<img src=https://a.example/x>|<form>|</form>|<button>|</button>|<select>|</select>|`+
	`<option>|<svg>|</svg>|<foreignObject>|</foreignObject>|<math>|</math>|<mtext>|</mtext>|<style>|</style>|<script>|</script>|`+
	`<template>|</template>|<title>|</title>|<textarea>|</textarea>|<noscript>|</noscript>|<iframe>|</iframe>|<object>|</object>|`+
	`<marquee>|</marquee>|<ruby>|<rt>|</ruby>|<body dir=rtl>|</body>|<html>|</html>|<head>|</head>|<frameset>|<!--|-->|`+
	`<span style="color:red">|</span>|<o:p>|</o:p>|<big>|<small>|<tt>|<u>|</u>|<address>|<section>|</section>|<main>|`+
	`<picture>|</picture>|<video>|</video>|<canvas>|</canvas>|<map name=m>|</map>|<area href=#p>|<img usemap=#m lang=en>|<p id=p lang=en>|`+
	`<a title=t name=p lang=en>|<a href=#p lang=en>|<td background=https://a.example/x style="color:red">|<b title=t background=//a.example/y lang=en>|`+
	"x| |\n|\r|&amp;|&lt;|&#13;|\x00", "|")

var soups = flag.Int("soups", 200, "bodies of tag soup to cook")

// TestTagSoup cooks bodies at random, from a fixed seed, and holds the output to the same as that of hostile mail.
func TestTagSoup(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range *soups {
		var b strings.Builder
		for range 1 + r.IntN(25) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		src := b.String()
		out := sanitize.HTML(src, "seed", nil)
		check(t, src, out, mailElements, mailAttributes)
		if again := sanitize.HTML(out, "seed", nil); again != out {
			t.Errorf("the output changes when it is sanitized again, want it as it is\n in    %q\n once  %q\n twice %q", src, out, again)
		}
		notice := sanitize.Notice(src)
		check(t, src, notice, noticeElements, noticeAttributes)
		if again := sanitize.Notice(notice); again != notice {
			t.Errorf("the output changes when it is sanitized again, want it as it is\n in    %q\n once  %q\n twice %q", src, notice, again)
		}
	}
}
