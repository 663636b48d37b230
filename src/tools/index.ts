/** The tools of this deployment. To add one: a folder here and a line in `tools`. */
import type { Tool } from '../gate/index.ts';
import { searchTransactions } from './accounts/search-transactions.ts';
import { calculator } from './calculator/calculator.ts';
import { countDocuments } from './help-centre/count-documents.ts';
import { lookupDocument } from './help-centre/lookup-document.ts';
import { getOrder } from './orders/get-order.ts';
import { refundOrder } from './orders/refund-order.ts';
import { refundPayment } from './payments/refund-payment.ts';

export const tools: readonly Tool[] = [
  calculator, //
  countDocuments,
  getOrder,
  lookupDocument,
  refundOrder,
  refundPayment,
  searchTransactions,
];
