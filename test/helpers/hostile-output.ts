/** Outputs that attack whoever shows them, as files of a checkout that a plan prints with cat. */
export const hostileOutputs = {
	'markup.bin': [
		"</script><script>document.title='pwned';window.pwned=1</script>",
		'</pre></details><img src=x onerror="window.pwned=2"><svg onload=window.pwned=3>',
		`"><b id=injected>bold</b> ' onmouseover='window.pwned=4`,
		'<style>*{display:none!important}</style><base href="http://127.0.0.1:1/">',
		'<meta http-equiv=refresh content="0;url=http://127.0.0.1:1/">',
		'<iframe srcdoc="<script>parent.pwned=5</script>"></iframe> ]]> <!-- --> &lt;b&gt; ``` @someone #1 [x](javascript:pwned)',
		'<a href="javascript:window.pwned=6" autofocus onfocus="window.pwned=7">x</a>',
		'',
	].join('\n'),
	'terminal.bin': [
		'\u001b[31mred\u001b[0m \u001b[1;32mbold green\u001b[0m \u001b[30;48;5;226mon yellow\u001b[m \u001b[38;2;10;200;250mtrue colour\u001b[0m',
		'progress 10%\rprogress 99%\rdone\u001b[K',
		'\u001b]0;title\u0007\u001b]8;;javascript:pwned\u001b\\link\u001b]8;;\u001b\\',
		'\u001b]0;never ends',
		'after the unfinished string',
		'\u001b[8mconcealed\u001b[0m \u001b[2J\u001b[1;1Hcursor \u009b31mC1 red\u009b0m',
		'\u202eevil\u202c bidi \u200bzero-width',
		`Z${'\u036b'.repeat(40)}algo abc\b\b\bxyz \u0000\u0007`,
		'',
	].join('\n'),
	'invalid.bin': Buffer.concat([Buffer.from('before '), Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80]), Buffer.from(' after \uffff \ufffe\n')]),
	'long.bin': `${'A'.repeat(1_048_576 - 10)}END-MARKER`,
} as const;
