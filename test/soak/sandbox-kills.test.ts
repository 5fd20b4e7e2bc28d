import {declareKills} from '../helpers/sandbox-kills.ts';

declareKills({kills: 200, aborts: 300});
