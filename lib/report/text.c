/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report for people: what is wrong by cause, and what to do next.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "report/groups.h"
#include "report/histogram.h"
#include "report/inodeline.h"
#include "report/report.h"
#include "report/wrap.h"

#define BOLD   "\033[1m"
#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define GREEN  "\033[32m"
#define RESET  "\033[0m"

#define EXAMPLES_SHOWN 3
#define PLACES_SHOWN   5
#define INDENT         "        "
#define WIDTH          88 /* of running text; lines that name an inode are as long as they are */

struct page {
	FILE *out;
	const struct ctm_report *rep;
	struct ctm_buf line;
};

static const char *paint(const struct page *p, const char *color)
{
	return p->rep->color ? color : "";
}

/* The escaped form in p->line, valid until the next use; NULL when memory runs out. */
static const char *safe(struct page *p, const char *name, size_t len)
{
	p->line.len = 0;
	if (ctm_path_escape(&p->line, name, len) < 0) {
		return NULL;
	}
	return p->line.p ? p->line.p : "";
}

/* "CT 115", or the name of what else it is. */
static int put_name(struct page *p)
{
	const struct ctm_exam *exam = p->rep->exam;
	const char *text = safe(p, p->rep->name, strlen(p->rep->name));

	if (!text) {
		return -ENOMEM;
	}
	fprintf(p->out, "%s%s%s%s", paint(p, BOLD),
		exam->target->kind == CTM_TARGET_PVE ? "CT " : "", text, paint(p, RESET));
	return 0;
}

/* The first thing to see is what is wrong. */
static int put_sentence(struct page *p)
{
	const struct ctm_diagnosis *d = &p->rep->exam->diagnosis;
	int r = put_name(p);

	if (r == 0) {
		if (strcmp(p->rep->exam->volume->key, "rootfs") != 0) {
			fprintf(p->out, ", %s", p->rep->exam->volume->key);
		}
		fprintf(p->out, ": %s%s%s\n", paint(p, d->code == CTM_F_N ? GREEN : BOLD), d->text,
			paint(p, RESET));
	}
	return r;
}

static int put_volume(struct page *p)
{
	const struct ctm_exam *exam = p->rep->exam;
	const char *comma = "";
	const char *text;
	int r = exam->diagnosis.text ? put_sentence(p) : put_name(p);

	if (r < 0) {
		return r;
	}
	comma = exam->diagnosis.text ? "" : ", ";
	if (exam->target->kind != CTM_TARGET_PATH) {
		text = safe(p, exam->volume->id, strlen(exam->volume->id));
		if (!text) {
			return -ENOMEM;
		}
		fprintf(p->out, "%s%s %s", comma, exam->volume->key, text);
		comma = ", ";
	}
	fprintf(p->out, "%s%s", comma, exam->fstype[0] ? exam->fstype : exam->volume->format);
	p->line.len = 0;
	if (exam->volume->map && ctm_idmap_format(exam->volume->map, &p->line) < 0) {
		return -ENOMEM;
	}
	if (p->line.len) {
		fprintf(p->out, ", map %s", p->line.p);
	}
	fputc('\n', p->out);
	for (size_t i = 0; i < exam->notes.n; i++) {
		text = safe(p, exam->notes.v[i], strlen(exam->notes.v[i]));
		if (!text) {
			return -ENOMEM;
		}
		fprintf(p->out, "note: %s\n", text);
	}
	return 0;
}

/* A next step, with what the user calls the target in place of the word TARGET. */
static int put_step(struct page *p, const char *indent, const char *lead, const char *step)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	static const char word[] = "TARGET";
	const char *name = p->rep->name;
	int r = 0;

	for (const char *at = strstr(step, word); at && name && r == 0; at = strstr(step, word)) {
		r = ctm_buf_add(&text, step, (size_t)(at - step));
		r = r < 0 ? r : ctm_path_escape(&text, name, strlen(name));
		step = at + strlen(word);
	}
	r = r < 0 ? r : ctm_buf_addf(&text, "%s", step);
	if (r == 0) {
		ctm_wrap(p->out, indent, lead, WIDTH, text.p);
	}
	return r;
}

static int put_places(struct page *p, const struct ctm_group *g)
{
	size_t shown = g->places.n < PLACES_SHOWN ? g->places.n : PLACES_SHOWN;
	uint64_t rest = g->n;

	if (g->n < 2 || !g->places.n) {
		return 0;
	}
	fputs(INDENT "in ", p->out);
	for (size_t i = 0; i < shown; i++) {
		fprintf(p->out, "%s/%s %" PRIu64, i ? ", " : "", g->places.v[i].dir,
			g->places.v[i].n);
		rest -= g->places.v[i].n;
	}
	if (rest) {
		fprintf(p->out, ", elsewhere %" PRIu64, rest);
	}
	fputc('\n', p->out);
	return 0;
}

static const struct ctm_action *action_of(const struct ctm_plan *plan, const struct ctm_finding *f)
{
	return f->action == CTM_NO_ACTION ? NULL : &plan->actions.v[f->action];
}

/*
 * What a finding's line shows: the whole inode where the plan has it, else the path; then its
 * own words.
 */
static int put_finding(struct page *p, const struct ctm_plan *plan, const struct ctm_finding *f)
{
	const struct ctm_action *act = action_of(plan, f);
	int r;

	p->line.len = 0;
	if (act) {
		r = ctm_inode_line(&p->line, f->path, f->path_len, &act->before, act->rdev);
	} else {
		r = ctm_buf_addf(&p->line, "/");
		if (r == 0) {
			r = ctm_path_show(&p->line, f->path, f->path_len);
		}
	}
	if (r < 0) {
		return r;
	}
	fprintf(p->out, INDENT "%s", p->line.p);
	if (!act && f->kind >= 0) {
		fprintf(p->out, ": %s %" PRIu32, f->kind == CTM_UID ? "uid" : "gid", f->id);
	}
	if (f->err) {
		fprintf(p->out, ": %s", strerror(f->err));
	}
	if (f->text) {
		const char *text = safe(p, f->text, strlen(f->text));

		if (!text) {
			return -ENOMEM;
		}
		fprintf(p->out, ": %s", text);
	}
	fputc('\n', p->out);
	return 0;
}

static bool same_path(const struct ctm_finding *a, const struct ctm_finding *b)
{
	return a->path && b->path && a->path_len == b->path_len &&
	       memcmp(a->path, b->path, a->path_len) == 0;
}

#define BASES_SHOWN 8

/* Of the ids of another base one example is shown for each base, beyond the first few lines. */
struct bases {
	const char *text[BASES_SHOWN]; /* the words that name a base, in the plan */
	size_t n;
};

static bool has_bases(const struct ctm_finding *f)
{
	return f->code == CTM_F_OWN_BASE || f->code == CTM_F_ACL_BASE;
}

static bool new_base(struct bases *bases, const struct ctm_finding *f)
{
	if (!has_bases(f) || !f->text) {
		return false;
	}
	for (size_t i = 0; i < bases->n; i++) {
		if (strcmp(bases->text[i], f->text) == 0) {
			return false;
		}
	}
	if (bases->n == BASES_SHOWN) {
		return false;
	}
	bases->text[bases->n++] = f->text;
	return true;
}

static int put_examples(struct page *p, const struct ctm_plan *plan, const struct ctm_group *g)
{
	struct bases bases = { 0 };
	uint64_t shown = 0;
	bool more = false;
	int r = 0;

	for (size_t i = g->first; i < g->first + g->n_findings && r == 0; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];
		bool new;

		ctm_spill_pass(plan->spill);
		if (!f->path) {
			const char *text = f->text ? safe(p, f->text, strlen(f->text)) : NULL;

			if (text) {
				fprintf(p->out, INDENT "%s\n", text);
			}
			continue;
		}
		if (i > g->first && same_path(f, f - 1)) {
			continue;
		}
		new = new_base(&bases, f);
		if (!p->rep->verbose && shown >= EXAMPLES_SHOWN && !new) {
			more = true;
			if (has_bases(f)) {
				continue;
			}
			break;
		}
		shown++;
		r = put_finding(p, plan, f);
	}
	if (more) {
		fprintf(p->out, INDENT "... and %" PRIu64 " more\n", g->n - shown);
	}
	return r;
}

static const struct ctm_diagnosed *diagnosed(const struct page *p, const struct ctm_group *g)
{
	return p->rep->exam ? ctm_diagnosis_of(&p->rep->exam->diagnosis, g->code) : NULL;
}

static int put_cause(struct page *p, const struct ctm_diagnosed *d)
{
	const char *cause = ctm_cause_text(d->cause);
	int r = 0;

	p->line.len = 0;
	if (cause || d->evidence) {
		r = ctm_buf_addf(&p->line, "%s%s%s", cause ? cause : "",
				 cause && d->evidence ? ": " : "", d->evidence ? d->evidence : "");
		if (r < 0) {
			return r;
		}
		ctm_wrap(p->out, INDENT, "cause: ", WIDTH, p->line.p);
	}
	if (d->note) {
		ctm_wrap(p->out, INDENT, "note: ", WIDTH, d->note);
	}
	for (const char *line = d->lines; line && *line; line += strcspn(line, "\n") + 1) {
		fprintf(p->out, INDENT "    %.*s\n", (int)strcspn(line, "\n"), line);
	}
	return 0;
}

/* The step that ends the report is not said twice. */
static bool ends_with_step(const struct page *p, const struct ctm_plan *plan)
{
	return p->rep->exam && p->rep->exam->diagnosis.next &&
	       (!plan->actions.n || plan->refuse_tree || plan->refuse_held);
}

static int put_group(struct page *p, const struct ctm_plan *plan, const struct ctm_group *g)
{
	const struct ctm_finding_info *info = ctm_finding_info(g->code);
	const struct ctm_diagnosed *d = diagnosed(p, g);
	const char *color = info->severity == CTM_FAULT  ? RED :
			    info->severity == CTM_CHOICE ? YELLOW :
							   "";
	int r;

	fprintf(p->out, "\n%s%s%s  %" PRIu64 "  %s\n", paint(p, color), info->code,
		paint(p, color[0] ? RESET : ""), g->n, info->title);
	if (!d || p->rep->verbose || (!ctm_cause_text(d->cause) && !d->evidence)) {
		ctm_wrap(p->out, INDENT, "", WIDTH, info->why);
	}
	r = d ? put_cause(p, d) : 0;
	if (r < 0) {
		return r;
	}
	if (g->ids.n) {
		p->line.len = 0;
		r = ctm_group_ids_text(g, &p->line);
		if (r < 0) {
			return r;
		}
		fprintf(p->out, INDENT "%s\n", p->line.p);
	}
	r = put_places(p, g);
	if (r == 0) {
		r = put_examples(p, plan, g);
	}
	if (r == 0 && info->next &&
	    !(ends_with_step(p, plan) && p->rep->exam->diagnosis.code == g->code)) {
		r = put_step(p, INDENT, "next: ", info->next);
	}
	return r;
}

static int put_groups(struct page *p, const struct ctm_plan *plan)
{
	struct ctm_groups groups;
	int r = ctm_groups_make(plan, &groups);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < groups.v.n && r == 0; i++) {
		r = put_group(p, plan, &groups.v.v[i]);
	}
	ctm_groups_done(&groups);
	return r;
}

/* "Next:" for a plan that has changes to make, with the words the user gave. */
static int put_next(struct page *p, const struct ctm_plan *plan)
{
	const char *name = safe(p, p->rep->name, strlen(p->rep->name));

	if (!name) {
		return -ENOMEM;
	}
	if (plan->actions.n && p->rep->exam->unfinished_err.code != CTM_OK) {
		/* what is in the way has its own step, which comes before a repair */
		fprintf(p->out, "\nNext: 'ctmend diff %s' shows every change (same options).\n",
			name);
		return 0;
	}
	if (plan->actions.n && !plan->refuse_tree && !plan->refuse_held) {
		fprintf(p->out,
			"\nNext: 'ctmend diff %s' shows every change, 'ctmend repair %s' makes %s "
			"(same options).\n",
			name, name, plan->actions.n == 1 ? "it" : "them");
		return 0;
	}
	if (ends_with_step(p, plan)) {
		fputc('\n', p->out);
		return put_step(p, "", "Next: ", p->rep->exam->diagnosis.next);
	}
	return 0;
}

static void put_summary(struct page *p, const struct ctm_plan *plan)
{
	const char *color = plan->findings.n ? BOLD : GREEN;

	if (p->rep->exam->diagnosis.text && !ctm_plan_has_work(plan)) {
		return; /* the sentence has said it */
	}
	fprintf(p->out, "%s", paint(p, color));
	if (!ctm_plan_has_work(plan)) {
		fprintf(p->out, "clean: %" PRIu64 " inodes looked at, ids only; nothing to repair",
			plan->totals.inodes);
	} else {
		fprintf(p->out, "%" PRIu64 " inodes looked at, %zu to change", plan->totals.inodes,
			plan->actions.n);
	}
	fprintf(p->out, "%s\n", paint(p, RESET));
}

/* What looks odd inside and is right: for whoever wants to see all. */
static void put_nobody(struct page *p, const struct ctm_plan *plan)
{
	const uint64_t *n = plan->volume.nobody;

	if ((n[CTM_UID] || n[CTM_GID]) && !ctm_plan_has(plan, CTM_F_OWN_OVERFLOW)) {
		fprintf(p->out,
			"note: %" PRIu64 " inodes have the uid and %" PRIu64
			" the gid of the container's own nobody, which is right ('ctmend explain "
			"own.nobody')\n",
			n[CTM_UID], n[CTM_GID]);
	}
}

static int put_counts(struct page *p, const struct ctm_plan *plan)
{
	put_nobody(p, plan);
	return ctm_histogram_text(p->out, plan);
}

int ctm_report_causes(FILE *out, const struct ctm_plan *plan, bool verbose, bool color)
{
	const struct ctm_report rep = { .verbose = verbose, .color = color };
	struct page p = { .out = out, .rep = &rep };
	int r = put_groups(&p, plan);

	ctm_buf_done(&p.line);
	return r;
}

int ctm_report_text(FILE *out, const struct ctm_report *rep)
{
	struct page p = { .out = out, .rep = rep };
	const struct ctm_plan *plan = rep->exam->plan;
	int r = put_volume(&p);

	if (r == 0 && plan) {
		put_summary(&p, plan);
		r = rep->verbose ? put_counts(&p, plan) : 0;
	}
	if (r == 0 && plan) {
		r = put_groups(&p, plan);
	}
	if (r == 0 && plan) {
		r = put_next(&p, plan);
	}
	ctm_buf_done(&p.line);
	return r;
}
