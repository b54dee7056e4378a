"""The rules that the supplement of the paper prints, as it prints them, faults included."""

from __future__ import annotations

ADULT = """\
label(X,'<=50K') :- not marital_status(X,'Married-civ-spouse')
            , capital_gain(X,N1), N1=<6849.0.

label(X,'<=50K') :- marital_status(X,'Married-civ-spouse')
            , capital_gain(X,N1), N1=<5013.0, education_num(X,N2), N2=<12.0.

marital_status(X,'Never-married') :- not relationship(X,'Husband'),

            not relationship(X,'Wife'), age(X,N1), N1=<29.0.

marital_status(X,'Married-civ-spouse') :- relationship(X,'Husband').

marital_status(X,'Married-civ-spouse') :- relationship(X,'Wife').

marital_status(X,neither) :- not relationship(X,'Husband')
            , not relationship(X,'Wife').

relationship(X,'Husband') :- not sex(X,'Male'), age(X,N1), not(N1=<27.0).

relationship(X,'Wife') :- sex(X,'Female').
"""

# The first rule lacks its full stop.
GERMAN = """\
label(X,'good') :- checking_account_status(X,'no_checking_account')

label(X,'good') :- not checking_account_status(X,'no_checking_account')\
              , not credit_history(X,'all_dues_atbank_cleared')\
              , duration_months(X,N1), N1=<21.0, credit_amount(X,N2)
              , not(N2=<428.0), not ab1(X,'True').

ab1(X,'True') :- property(X,'car or other')
              , credit_amount(X,N2), N2=<1345.0.

present_employment_since(X,'employed') :-
              not job(X,'unemployed/unskilled-non_resident').

present_employment_since(X,'unemployed') :-
              job(X,'unemployed/unskilled-non_resident').
"""

CARS = """\
label(X,'negative') :- persons(X,'2').

label(X,'negative') :- safety(X,'low').

label(X,'negative') :- buying(X,'vhigh'), maint(X,'vhigh').

label(X,'negative') :- not buying(X,'low'), not buying(X,'med'), maint(X,'vhigh').

label(X,'negative') :- buying(X,'vhigh'), maint(X,'high').
"""

LISTINGS = {"adult": ADULT, "german": GERMAN, "cars": CARS}
RULES_IN = {"adult": 8, "german": 5, "cars": 5}
