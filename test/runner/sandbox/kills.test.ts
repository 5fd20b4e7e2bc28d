import {declareKills} from '../../helpers/sandbox-kills.ts';

// The full counts are in test/soak.
declareKills({kills: 32, aborts: 60});
