/* The methods of System and Model that compute something of a system, outside a run. */
#ifndef LG_BIND_QUERIES_H
#define LG_BIND_QUERIES_H

#include "bind/python.h"

/* of System: evaluate.c, system_queries.c, solve.c */
PyObject *lg_query_evaluate(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_evaluate_pair(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_energy(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_residual(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_retract(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_difference(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_initial(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_project(PyObject *self, PyObject *args, PyObject *kwargs);
extern const char lg_query_evaluate_doc[], lg_query_evaluate_pair_doc[], lg_query_energy_doc[], lg_query_residual_doc[],
    lg_query_retract_doc[], lg_query_difference_doc[], lg_query_initial_doc[], lg_query_project_doc[];

/* of Model: model_queries.c */
PyObject *lg_query_kinematics(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_motions(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_reaction(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_strain(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_transmitted(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *lg_query_rows(PyObject *self, PyObject *element);
extern const char lg_query_kinematics_doc[], lg_query_motions_doc[], lg_query_reaction_doc[], lg_query_strain_doc[],
    lg_query_transmitted_doc[], lg_query_rows_doc[];

#endif
