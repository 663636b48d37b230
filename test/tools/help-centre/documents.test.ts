import { describe, expect, it } from 'vitest';
import type { SqlRow, SqlValue } from '../../../src/gate/ports.ts';
import { countDocuments } from '../../../src/tools/help-centre/count-documents.ts';
import type { HelpDocument } from '../../../src/tools/help-centre/documents.ts';
import { lookupDocument } from '../../../src/tools/help-centre/lookup-document.ts';
import { readWith, refusedFields } from '../../support/bound-tool.ts';

const warranty: HelpDocument = { id: 'kc-warranty-v2', title: 'Warranty', version: '2', status: 'current', lang: 'en' };
/** A help centre of that one document, with 12 current and 1 superseded where it is asked for a number. */
function helpCentre(sql: string, [asked]: SqlValue[]): SqlRow[] {
  if (sql.includes('count(*)')) return [{ documents: asked === 'current' ? 12 : 1 }];
  return asked === warranty.id ? [warranty] : [];
}

describe('lookupDocument', () => {
  it('answers with what the help centre says of the document', async () => {
    expect(await readWith(lookupDocument, { doc_id: 'kc-warranty-v2' }, helpCentre)).toEqual({
      ok: true,
      data: warranty,
    });
    expect(lookupDocument.misfit(warranty)).toBeNull();
  });

  it('says so where there is no such document', async () => {
    expect(await readWith(lookupDocument, { doc_id: 'kc-warranty-v3' }, helpCentre)).toEqual({
      ok: false,
      code: 'DOCUMENT_NOT_FOUND',
      facts: {},
    });
  });

  it.each(['ab', 'a'.repeat(41), 'KC-WARRANTY', 'kc_warranty', 'kc-warranty\n', '../kc-warranty', "kc'--"])(
    'refuses the id %j',
    (doc_id) => expect(refusedFields(lookupDocument, { doc_id })).toEqual(['doc_id']),
  );

  it.each([
    ['title', { title: 7 }],
    ['status', { status: 'draft' }],
    ['', { body: 'the whole text' }],
  ])('finds the misfit %j of a drifted backend', (path, drift) => {
    expect(lookupDocument.misfit({ ...warranty, ...drift })).toBe(path);
  });
});

describe('countDocuments', () => {
  it.each([
    ['current', 12],
    ['superseded', 1],
  ])('counts those that are %s', async (status, count) => {
    expect(await readWith(countDocuments, { status }, helpCentre)).toEqual({ ok: true, data: { status, count } });
  });

  it.each([['draft'], [null], ['CURRENT']])('refuses the status %j', (status) => {
    expect(refusedFields(countDocuments, { status })).toEqual(['status']);
  });

  it('has no code of its own', () => expect(countDocuments.codes).toEqual([]));
});
