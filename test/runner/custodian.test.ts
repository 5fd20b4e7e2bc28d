import test from 'ava';
import {loadNative} from '../../native/index.ts';
import {becomeCustodian} from '../../runner/custodian.ts';

test.serial('becomeCustodian() lasts until the last claim is given back, and giving back twice does no harm', t => {
	const native = loadNative();
	t.false(native.isSubreaper());
	t.false(native.isSealed());
	const first = becomeCustodian(native);
	const second = becomeCustodian(native);
	first();
	first();
	t.true(native.isSubreaper());
	t.true(native.isSealed());
	second();
	t.false(native.isSubreaper());
	t.false(native.isSealed());
});

test.serial('becomeCustodian() leaves what the process was before', t => {
	const native = loadNative();
	native.setSubreaper(true);
	native.setSealed(true);
	becomeCustodian(native)();
	t.true(native.isSubreaper());
	t.true(native.isSealed());
	native.setSubreaper(false);
	native.setSealed(false);
});
