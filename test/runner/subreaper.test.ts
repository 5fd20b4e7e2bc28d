import test from 'ava';
import {loadNative} from '../../native/index.ts';
import {claimSubreaper} from '../../runner/subreaper.ts';

test('claimSubreaper() lasts until the last claim is given back, and giving back twice does no harm', t => {
	const native = loadNative();
	t.false(native.isSubreaper());
	const first = claimSubreaper(native);
	const second = claimSubreaper(native);
	first();
	first();
	t.true(native.isSubreaper());
	second();
	t.false(native.isSubreaper());
});

test('claimSubreaper() leaves the role alone where the process had it before', t => {
	const native = loadNative();
	native.setSubreaper(true);
	claimSubreaper(native)();
	t.true(native.isSubreaper());
	native.setSubreaper(false);
});
